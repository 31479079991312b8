"""``structhash index``."""

import numpy as np
import pytest

from structhash import load_model
from structhash.io import load_codes, save_codes
from structhash.search import load_index


def test_a_prefix_has_the_weights_of_its_bits(done, here, tmp_path):
    codes, out = tmp_path / "c.codes", tmp_path / "i"
    done("encode", "w", "x.npy", "-o", codes, "--bits", 5)
    done("index", codes, "-o", out, "--model", "w", "--bits", 5)
    np.testing.assert_array_equal(load_index(out).weights, load_model("w").weights_at(5))


def test_backend_and_ids(machine, here, tmp_path):
    out = tmp_path / "i"
    facts = machine("index", "w.npy", "-o", out, "--bits", 12, "--backend", "flat", "--ids", "ids.npy")
    assert facts == {
        "codes": 300,
        "bits": 12,
        "ids": "numbers",
        "backend": "flat",
        "weighted": False,
        "file": str(out),
    }
    index = load_index(out)
    assert type(index).__name__ == "Flat"
    assert (index.ids % 10 == 0).all()


@pytest.fixture
def names():
    """300 text ids that are not in order."""
    return [f"{'éa'[i % 2]}{i}" for i in range(300)]


@pytest.mark.parametrize("name", ["ids.npy", "ids.txt", "ids.csv", "one.csv"])
def test_text_ids_of_any_file(machine, here, tmp_path, names, name):
    path = tmp_path / name
    np.save(tmp_path / "ids.npy", names)
    (tmp_path / "ids.txt").write_text("\ufeff" + "\r\n".join(names) + "\n", encoding="utf-8")
    lines = [f'{i},"{each}"' for i, each in enumerate(names)]
    (tmp_path / "ids.csv").write_text("\n".join(["row, doc", *lines]), encoding="utf-8")
    (tmp_path / "one.csv").write_text("\n".join(["doc", *names]), encoding="utf-8")
    more = ("--id", "doc") if name == "ids.csv" else ()
    machine("index", "m.codes", "-o", tmp_path / "i", "--ids", path, *more)
    assert load_index(tmp_path / "i").ids.tolist() == sorted(names)
    assert machine("info", tmp_path / "i")["ids"] == "text"


def test_text_that_is_numbers_is_numbers_but_for_an_index_of_text(done, machine, tmp_path):
    code, path, out = tmp_path / "c.npy", tmp_path / "ids.txt", tmp_path / "i"
    np.save(code, np.array([[1], [129]], np.uint8))
    for text, kind, ids in (("10\n9\n", "numbers", [9, 10]), ("10\n09\n", "text", ["09", "10"])):
        path.write_text(text)
        done("index", code, "-o", out, "--ids", path)
        assert load_index(out).ids.tolist() == ids
        path.write_text("7\n8\n")
        done("index", code, "-o", out, "--ids", path, "--append")
        assert load_index(out).ids.tolist() == ([7, 8, 9, 10] if kind == "numbers" else ["09", "10", "7", "8"])
        assert machine("info", out)["ids"] == kind


@pytest.mark.parametrize("backend", ["exact", "flat"])
def test_codes_are_added_to_an_index(machine, here, tmp_path, backend):
    out, codes = tmp_path / "i", np.load("m.npy")
    machine("index", "m.codes", "-o", out, "--backend", backend)
    facts = machine("index", "m.codes", "-o", out, "--append")
    assert facts == {
        "codes": 600,
        "bits": 16,
        "ids": "row numbers",
        "backend": backend,
        "weighted": False,
        "file": str(out),
    }
    np.testing.assert_array_equal(load_index(out).table()[0], np.concatenate([codes, codes]))
    assert load_index(out).source == load_model("m").fingerprint()
    assert [each.name for each in tmp_path.iterdir()] == ["i"]


def test_an_index_keeps_its_weights_and_length_as_codes_are_added(machine, run, done, here, tmp_path):
    codes, out = tmp_path / "c.codes", tmp_path / "i"
    done("encode", "w", "x.npy", "-o", codes, "--bits", 5)
    done("index", codes, "-o", out, "--model", "w", "--bits", 5)
    facts = machine("index", codes, "-o", out, "--append")
    assert (facts["codes"], facts["bits"], facts["weighted"]) == (600, 5, True)
    np.testing.assert_array_equal(load_index(out).weights, load_model("w").weights_at(5))
    done("encode", "w", "x.npy", "-o", tmp_path / "c.npy", "--bits", 5)
    result = run("index", tmp_path / "c.npy", "-o", out, "--append")
    assert result.stderr == (
        f"warning: {tmp_path / 'c.npy'} does not say which model made its codes, so {out} does not either now\n"
    )
    assert (load_index(out).ntotal, load_index(out).n_bits, load_index(out).source) == (900, 5, None)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("w.codes", ["w.codes holds codes of 12 bits, the index of 16; give codes of one length"]),
        ("m.codes -o other", ["the indexes hold codes of different models"]),
        ("short.codes", ["short.codes holds codes of 9 bits, the index of 16; give codes of one length"]),
        ("m.codes --ids ids.npy", ["one index has row numbers, another ids of its own"]),
        ("m.codes --backend flat", ["--backend flat: the index in m.index is exact; leave --backend out"]),
        ("m.codes --model w", ["m.codes holds codes of another model than w"]),
    ],
)
def test_codes_that_do_not_fit_an_index_are_not_added(assert_refused, words, parts):
    assert_refused(f"index -o m.index {words} --append", *parts)


def test_codes_without_ids_are_not_added_to_own_ids(assert_refused, done, here, tmp_path):
    out = tmp_path / "i"
    done("index", "m.codes", "-o", out, "--ids", "ids.npy")
    before = out.read_bytes()
    assert_refused(f"index m.codes -o {out} --append", "--append: the index has ids of its own; give --ids too")
    assert out.read_bytes() == before


def test_without_a_model_a_byte_has_8_bits(done, here, tmp_path):
    done("index", "m.npy", "-o", tmp_path / "i")
    assert load_index(tmp_path / "i").n_bits == 16
    assert load_index(tmp_path / "i").source is None


@pytest.mark.parametrize(
    ("codes", "zeros", "length"), [([[0, 8], [0, 3]], 4, 12), ([[7, 0]], 7, 9), ([[1], [0]], 7, 1)]
)
def test_bare_codes_that_may_have_padding_are_warned_of(run, done, tmp_path, codes, zeros, length):
    path, out = tmp_path / "c.npy", tmp_path / "i"
    np.save(path, np.array(codes, np.uint8))
    bits = 8 * len(codes[0])
    assert run("index", path, "-o", out).stderr == (
        f"warning: {path} does not say how many bits its codes have, and the last {zeros} of {bits} are 0 in "
        f"all codes: give --bits {length} if the codes have {length} bits\n"
    )
    assert load_index(out).n_bits == bits
    done("index", path, "-o", out, "--bits", bits)
    done("index", path, "-o", out, "--bits", length)


def test_a_model_that_makes_longer_codes_does_not_hide_padding(run, done, here, tmp_path):
    done("encode", "m", "x.npy", "-o", tmp_path / "c.npy", "--bits", 12)
    lines = run("index", tmp_path / "c.npy", "-o", tmp_path / "i", "--model", "m").stderr.splitlines()
    assert len(lines) == 2
    assert "the last 4 of 16 are 0 in all codes: give --bits 12" in lines[1]
    lines = run("index", "w.npy", "-o", tmp_path / "i", "--model", "w").stderr.splitlines()
    assert ["which model made its codes" in line for line in lines] == [True]


def test_an_index_knows_its_model(here):
    for name in "mw":
        assert load_index(f"{name}.index").source == load_model(name).fingerprint()
        assert load_index(f"{name}.index").n_bits == load_model(name).n_bits_


def test_codes_name_their_model(machine, here, tmp_path):
    facts = machine("index", "w.codes", "--model", "w", "-o", tmp_path / "i", "--backend", "flat")
    assert (facts["bits"], facts["weighted"]) == (12, True)
    assert load_index(tmp_path / "i").source == load_model("w").fingerprint()


def test_a_plain_index_of_a_model_that_weighs_its_bits_is_warned_of(run, here, tmp_path):
    assert run("index", "w.codes", "-o", tmp_path / "i").stderr == (
        "warning: the model that made w.codes weighs its bits: give --model for distances by weight\n"
    )
    made = load_index(tmp_path / "i")
    assert made.weights is None
    assert made.source == load_model("w").fingerprint()


def test_codes_of_queries_in_an_index_are_warned_of_where_they_differ(run, done, tmp_path):
    codes, about = tmp_path / "c", {"n_rows": 2, "n_bits": 8, "source": "a1b2", "coded_as": "queries"}
    save_codes(codes, [np.array([[7], [255]], np.uint8)], **about, queries_differ=True)
    assert run("index", codes, "-o", tmp_path / "i").stderr == (
        f"warning: {codes} holds codes of queries, and its model codes rows differently: to index rows, encode "
        "them without --queries\n"
    )
    save_codes(codes, [np.array([[7], [255]], np.uint8)], **about, queries_differ=False)
    done("index", codes, "-o", tmp_path / "i")


def test_bare_codes_and_a_model_are_warned_of(run, here, tmp_path):
    result = run("index", "m.npy", "-o", tmp_path / "i", "--model", "m")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: m.npy does not say which model made its codes: that it was m is")
    assert load_index(tmp_path / "i").source == load_model("m").fingerprint()


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("x.npy", ["must be uint8", "got float32", "structhash encode makes codes"]),
        ("m", ["m: it holds 'model', not 'codes'", "structhash encode makes codes"]),
        ("m.npy --bits 17", []),
        ("m.codes --bits 15", ["--bits 15: m.codes holds codes of 16 bits; leave --bits out"]),
        ("m.codes --model w", ["m.codes holds codes of another model than w; give that one, or encode again"]),
        ("short.npy --model w", ["short.npy holds codes of 1 bytes; w makes codes of 12 bits; give the model"]),
        ("m.npy --model w --bits 16", ["m.npy holds codes of 2 bytes; w makes codes of 12 bits"]),
        ("m.npy --model w --bits 7", []),
        ("m.npy --model train.npz", ["no model", "structhash fit makes models"]),
        ("m.npy --backend magic", ["--backend 'magic': give one of exact, flat"]),
        ("m.npy --ids twice.npy", []),
        ("m.npy --ids m.npy", []),
        ("m.npy --ids m", ["m: it is a structhash file of kind 'model', no file of ids"]),
        ("m.npy --ids m.index", ["it is a structhash file of kind 'index.exact', no file of ids"]),
        ("m.npy --ids garbage.npy", []),
        ("m.npy --ids nowhere.npy", ["no such file: nowhere.npy"]),
        ("m.npy --ids short.txt", ["ids must have shape (300,), one for each code, got (2,)"]),
        ("m.npy --ids latin.txt", ["latin.txt: it is no file of ids in UTF-8"]),
        ("m.npy --id doc", ["--id doc is a column of a .csv file: give that by --ids"]),
        (
            "m.npy --ids ids.npy --id doc",
            ["--id doc is a column of a .csv file, ids.npy is none; leave it out"],
        ),
        ("m.npy --ids docs.csv", ["docs.csv has the columns doc, a, a; name that of the ids by --id"]),
        ("m.npy --ids docs.csv --id b", ["--id b: docs.csv has 0 such columns; it has doc, a, a"]),
        ("m.npy --ids docs.csv --id a", ["--id a: docs.csv has 2 such columns"]),
        ("m.npy --ids docs.csv --id doc", ["docs.csv: line 3 has 2 cells, the header 3"]),
        ("m.npy --append", ["--append: no such file: new; leave it out to make a new index"]),
        ("m.npy --ids .", ["cannot read .: it is not a file but a folder"]),
    ],
)
def test_bad_input_is_refused(assert_refused, words, parts):
    assert_refused(f"index {words} -o new", *parts)


def test_a_backend_with_settings(done, machine, here, tmp_path):
    facts = machine("index", "m.npy", "-o", tmp_path / "i", "--backend", "ivf:n_lists=20,n_probe=3")
    assert facts["backend"] == "ivf:n_lists=20,n_probe=3"
    index = load_index(tmp_path / "i")
    assert (type(index).__name__, index.n_lists, index.n_probe) == ("IVF", 20, 3)
    told = machine("info", tmp_path / "i")
    assert (told["class"], told["n_lists"], told["n_probe"]) == ("IVF", 20, 3)
    done("encode", "w", "x.npy", "-o", tmp_path / "c")
    facts = machine("index", tmp_path / "c", "-o", tmp_path / "i", "--model", "w", "--backend", "ivf:n_probe=3")
    assert facts["weighted"]
    assert load_index(tmp_path / "i").n_probe == 3


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("ivf:n_probe=0", "n_probe=0: give a whole number from 1 to 1048576"),
        ("ivf:n_probe=few", "--backend 'ivf:n_probe=few': n_probe='few': give a whole number"),
        ("ivf:n_bits=3", "--backend 'ivf:n_bits=3': n_bits is no setting; it has n_lists, n_probe"),
        ("ivf:ef=3", "'ef=3' is not one of its settings"),
        ("exact:n_bits=3", "n_bits is no setting; it has none"),
        ("nosuch:n_bits=3", "give one of exact, flat"),
    ],
)
def test_settings_that_a_backend_does_not_have_are_refused(assert_refused, backend, message):
    assert_refused(f"index m.npy -o new --backend {backend}", message)


def test_a_report_says_which_index_was_replaced(machine, here, tmp_path):
    assert "replaced" not in machine("index", "m.codes", "-o", tmp_path / "i")
    assert machine("index", "m.codes", "-o", tmp_path / "i")["replaced"] == "an index of 300 codes"
    assert "replaced" not in machine("index", "m.codes", "-o", tmp_path / "i", "--append")


@pytest.fixture(scope="module")
def centroid_codes(place, done, tmp_path_factory):
    """Codes of a product quantiser: a file that says so."""
    folder = tmp_path_factory.mktemp("centroids")
    done("fit", place / "x.npy", "-o", folder / "pq", "--method", "pq", "--bits", 16)
    done("encode", folder / "pq", place / "x.npy", "-o", folder / "codes")
    return folder / "codes"


@pytest.mark.parametrize("backend", ["hnsw", "multi_hash"])
def test_an_index_that_compares_bits_refuses_numbers_of_centroids(assert_refused, centroid_codes, backend):
    words = ["index", centroid_codes, "-o", "new", "--backend", backend]
    assert_refused(words, "numbers of centroids", f"and {backend} compares bits; use --backend exact, flat")


def test_numbers_of_centroids_are_searched_with_vectors_only(
    run, machine, assert_refused, centroid_codes, tmp_path
):
    machine("index", centroid_codes, "-o", tmp_path / "i")
    message = "no query could share their bits: give the vectors, with --model MODEL and --reader auto"
    assert_refused(["search", tmp_path / "i", centroid_codes], message)
    assert_refused(["dedup", centroid_codes, "--radius", "1"], "says nothing about their rows")
    model = centroid_codes.with_name("pq")
    words = ("search", tmp_path / "i", "x.npy", "--model", model, "--reader", "auto", "-k", 1)
    assert run(*words).exit_code == 0


def test_an_index_of_numbers_of_centroids_refuses_codes_of_any_file(
    run, done, assert_refused, centroid_codes, tmp_path
):
    bare, (first, both, added) = tmp_path / "bare.npy", (tmp_path / name for name in ("i", "both", "added"))
    np.save(bare, load_codes(centroid_codes).table)
    done("index", centroid_codes, "-o", first)
    done("index", bare, "-o", added)  # nothing says what its codes are
    assert run("merge", added, first, "-o", both).exit_code == 0
    assert run("index", centroid_codes, "-o", added, "--append").exit_code == 0
    for index in (first, both, added):
        message = f"{index} holds codes that are numbers of centroids, and no query could share their bits"
        assert_refused(["search", index, bare], f"{message}: give the vectors, with --model MODEL")
    words = ("-o", added, "--model", centroid_codes.with_name("pq"), "--backend", "ivf")
    assert run("index", bare, *words).exit_code == 0
    assert_refused(["search", added, bare], "numbers of centroids")
    place = f"sqlite:{tmp_path / 'codes.db'}"
    done("store", "export", first, "--to", place)
    done("store", "export", first, "--to", place, "--replace")
    assert_refused(["store", "search", place, bare], "table codes holds codes that are numbers of centroids")
    words = ("x.npy", "--model", centroid_codes.with_name("pq"), "--reader", "auto")
    assert done("store", "search", place, *words) == done("search", first, *words)
