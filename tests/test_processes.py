"""The processes that tests run: their streams, and what a failed assertion says."""

import signal

import pytest


def test_an_output_replaces_the_bytes_of_a_longer_one(in_a_process, tmp_path):
    (tmp_path / "out").write_text("a longer text")
    assert in_a_process("print('short')", out=tmp_path / "out") == 0
    assert (tmp_path / "out").read_text() == "short\n"


@pytest.mark.parametrize("named", [False, True])
def test_a_failure_shows_the_end_of_what_the_process_wrote(in_a_process, tmp_path, named):
    files = {"err": tmp_path / "err"} if named else {}
    with pytest.raises(AssertionError, match=r"^assert 1 \(.*ZeroDivisionError: division by zero\) == 0"):
        assert in_a_process("1 / 0", **files) == 0


def test_a_signal_is_a_negative_status(in_a_process):
    assert in_a_process("import os; os.abort()") == -signal.SIGABRT


def test_a_server_that_does_not_start_says_why(serve):
    with pytest.raises(
        AssertionError, match=r"ended with status 1: [\s\S]*ZeroDivisionError: division by zero"
    ):
        serve("1 / 0")
