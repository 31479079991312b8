"""``structhash info``."""

import pytest
from sklearn.datasets import load_digits

from structhash import load_model
from structhash.baselines import ITQ
from structhash.pieces import spell


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("m", {"kind": "model", "class": "DistilHash", "bits": 16, "features": 64, "reader": "bits"}),
        ("w", {"kind": "model", "class": "CGHash", "bits": 12, "weighted": True}),
        ("m.index", {"kind": "index.exact", "class": "Exact", "bits": 16, "codes": 300, "weighted": False}),
        ("w.index", {"bits": 12, "weighted": True}),
        ("m.npy", {"kind": "codes", "rows": 300, "bits": 16}),
        ("w.codes", {"kind": "codes", "rows": 300, "bits": 12, "coded as": "rows", "weighted": True}),
        ("x.npy", {"kind": "data", "rows": 300, "features": 64, "dtype": "float32"}),
        ("ids.npy", {"kind": "array", "shape": [300]}),
        ("train.csv", {"kind": "data", "rows": 200, "features": 64, "classes": 10, "labels": "int64"}),
        ("judged.npz", {"kind": "data", "rows": 60, "queries": 2, "judgements": 3}),
    ],
)
def test_what_a_file_is(machine, done, here, name, facts):
    found = machine("info", name)
    assert found["file"] == name
    assert {key: found[key] for key in facts} == facts
    assert str(facts[next(reversed(facts))]) in done("info", name)


def test_settings_of_a_model(machine, here):
    assert machine("info", "w")["parameters"]["n_far"] == 9


def test_answers_of_a_search(machine, done, here, tmp_path):
    done("search", "m.index", "m.codes", "-k", 2, "-o", tmp_path / "o.npz")
    assert machine("info", tmp_path / "o.npz")["ids"] == "int64 [300, 2]"


def test_what_a_model_learned(machine, done, here):
    found = machine("info", "m")
    assert found["embedding"] == spell(load_model("m").embedding_) == "posterior"
    assert found["because"] == "there are labels"
    assert "embedding    posterior\n" in done("info", "m")
    found = machine("info", "w")
    assert "embedding" not in found
    assert (found["loss"], found["C"]) == ("squared_hinge", 300)


def test_the_settings_of_an_embedding(machine, done, here, tmp_path):
    method = "distilhash:embedding=posterior:n_anchors=50"
    done("fit", "train.npz", "-o", tmp_path / "e", "--bits", 2, "--method", method)
    found = machine("info", tmp_path / "e")
    assert found["embedding"] == "posterior:n_anchors=50"
    assert "because" not in found


def test_how_queries_are_best_read(machine, done, here, tmp_path):
    encoder = ITQ(n_bits=12).fit(load_digits().data[:500])
    encoder.save(tmp_path / "itq")
    found = machine("info", tmp_path / "itq")
    assert found["reader"] == "real"
    assert found["recalls"] == encoder.recalls_by_reader()
    assert found["recalls"]["real"] > found["recalls"]["bits"] > 0
    assert "recalls " in done("info", tmp_path / "itq")
    assert "recalls" not in machine("info", "m")


def test_models_codes_and_indexes_name_the_model(machine, here):
    for name in "mw":
        known = {machine("info", f"{name}{ending}").get("model") for ending in (".codes", ".index")}
        assert known == {machine("info", name)["fingerprint"]}


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("nowhere", ["no such file: nowhere"]),
        ("garbage.npz", ["garbage.npz: it is damaged or holds Python objects", "save arrays of numbers"]),
        (
            "data.txt",
            [
                "data.txt: it is text",
                "structhash fit makes models",
                "structhash index makes indexes",
                "data files end in .csv",
            ],
        ),
        ("damaged", ["damaged"]),
    ],
)
def test_bad_input_is_refused(assert_refused, name, parts):
    assert_refused(f"info {name}", *parts)
