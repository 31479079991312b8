"""Interrupts behind other errors."""

from structhash._numerics.interrupts import interrupted


def test_an_interrupt_is_found_behind_other_errors():
    interrupt, outer = KeyboardInterrupt(), SystemError("outer")
    outer.__cause__ = middle = ValueError("middle")
    assert not interrupted(outer)
    middle.__context__ = interrupt
    assert interrupted(outer)
    assert interrupted(interrupt)
