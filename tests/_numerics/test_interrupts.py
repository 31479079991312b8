"""Interrupts behind other errors."""

from structhash._numerics.interrupts import interrupt_in


def test_an_interrupt_is_found_behind_other_errors():
    interrupt, outer = KeyboardInterrupt(), SystemError("outer")
    outer.__cause__ = middle = ValueError("middle")
    assert interrupt_in(outer) is None
    middle.__context__ = interrupt
    assert interrupt_in(outer) is interrupt
    assert interrupt_in(interrupt) is interrupt
