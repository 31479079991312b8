"""``structhash drift``."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, load_model
from structhash.evaluation import judge_drift

ROWS, LABELS = load_digits(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(ROWS))
X, Y = ROWS[ORDER].astype(np.float32), LABELS[ORDER]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Models without and with labels, their training rows, and new rows."""
    folder = tmp_path_factory.mktemp("drift")
    DistilHash(16, random_state=0).fit(X[:600]).save(folder / "m")
    DistilHash(12, random_state=0).fit(X[:600], Y[:600]).save(folder / "labelled")
    np.save(folder / "old.npy", X[:600])
    np.save(folder / "new.npy", X[600:1300])
    np.save(folder / "mirrored.npy", X[600:1300, ::-1])
    np.savez(folder / "new.npz", X=X[600:1300], y=Y[600:1300])
    few_digits = DistilHash(12, random_state=0).fit(X[:600][Y[:600] < 6], Y[:600][Y[:600] < 6])
    few_digits.save(folder / "six_digits")
    np.save(folder / "few.npy", X[:150])
    np.save(folder / "narrow.npy", X[:300, :5])
    return folder


@pytest.mark.slow
def test_machines_get_what_the_library_finds(machine, files):
    words = ("--training", files / "old.npy", "--seed", 2, "-k", 5)
    found = machine("drift", files / "m", files / "new.npy", *words)
    expected = judge_drift(load_model(files / "m"), X[600:1300], training=X[:600], k=5, random_state=2)
    assert (found["verdict"], found["reasons"]) == (expected.verdict, expected.reasons)
    assert found["gain"] == expected.gain._asdict()
    assert found["bits"] == expected.bits._asdict()
    assert found["distances"] == expected.distances._asdict()
    assert (found["model"], found["data"], found["rows"], found["drawn"]) == ("m", "new.npy", 700, 700)
    alone = machine("drift", files / "m", files / "new.npy", "--max-rows", 300)
    assert (alone["drawn"], alone["gain"]["n_queries"], alone["bits"]) == (300, 75, None)


@pytest.mark.slow
def test_people_see_the_verdict_and_why(done, files):
    lines = done("drift", files / "m", files / "new.npy", "--training", files / "old.npy").splitlines()
    assert lines[0].split() == ["verdict", "keep"]
    assert "recall@10 of 175 new queries is " in lines[1]
    assert [line.split("  ")[0] for line in lines[2:]] == [
        "new rows",
        "recall@10",
        "after a refit",
        "bit moved most",
        "nearest training row",
    ]
    lines = done("drift", files / "labelled", files / "new.npz").splitlines()
    assert [line.split("  ")[0] for line in lines[3:]] == ["precision@10", "after a refit"]
    lines = done("drift", files / "six_digits", files / "new.npz").splitlines()
    (share,) = [line.split()[-3] for line in lines if line.startswith("of new classes")]
    assert 10 <= int(share.removesuffix("%")) <= 100 * np.mean(Y[600:1300] >= 6)


@pytest.mark.slow
def test_the_exit_status_tells_only_where_it_is_asked_to(run, files):
    for data, fail, status in (
        ("new.npy", ("--fail",), 0),
        ("mirrored.npy", (), 0),
        ("mirrored.npy", ("--fail",), 1),
        ("mirrored.npy", ("--fail", "--min-gain", 1), 0),
    ):
        result = run("drift", files / "m", files / data, *fail)
        assert (result.exit_code, result.stderr) == (status, ""), data
        advised = data == "mirrored.npy" and "--min-gain" not in fail
        assert (result.stdout.split()[1] == "refit") == advised


def test_what_cannot_be_judged_is_refused(run, files):
    for words, message in (
        (("labelled", "new.npy"), "give labels of the new rows, or the training rows"),
        (("m", "few.npy"), "X has 150 rows; give at least 200"),
        (("m", "narrow.npy"), "features"),
        (("m", "missing.npy"), "missing.npy"),
        (("old.npy", "new.npy"), "old.npy"),
    ):
        result = run("drift", *(files / word for word in words))
        assert result.exit_code == 2, words
        assert message in result.stderr
