"""Every kind of piece: a file added to its folder is found and used, with no edit anywhere else."""

import sys

import numpy as np
import pytest

from structhash import StructHash, io, load_model, metrics
from structhash.evaluation.methods import parse_method
from structhash.pieces import KINDS, classes, load, names, spell
from structhash.search import load_index

RNG = np.random.default_rng(0)
Y = np.repeat(np.arange(3), 12)
X = RNG.standard_normal((3, 4))[Y] + 0.3 * RNG.standard_normal((36, 4))

# Each toy notes in USED that it was used.
HEAD = "from dataclasses import dataclass\nimport numpy as np\nUSED = []\n\n"
TOYS = {
    "rankings": """
from structhash.objectives.rankings.auc import AUC

@dataclass(frozen=True)
class ToyRanking(AUC):
    "AUC with its loss scaled."
    factor: float = 2.0

    def most_violated(self, near, far, near_ptr, far_ptr):
        USED.append(self.factor)
        loss, above, below = super().most_violated(near, far, near_ptr, far_ptr)
        return self.factor * loss, above, below
""",
    "losses": """
from structhash.objectives.losses.squared_hinge import SquaredHinge

@dataclass(frozen=True)
class ToyLoss(SquaredHinge):
    "The squared hinge under another name."

    def sums(self, near, far, near_ptr, far_ptr):
        USED.append(1)
        return super().sums(near, far, near_ptr, far_ptr)
""",
    "regularizers": """
from structhash.objectives.regularizers.base import Regularizer

@dataclass(frozen=True)
class ToyRegularizer(Regularizer):
    "A weight costs less where more rows have the bit."
    price: float = 0.5

    def cost(self, bit):
        USED.append(self.price)
        return self.price * (1 + float(np.mean(np.asarray(bit) == 0)))
""",
    "starts": """
from structhash.families.starts.base import Start

@dataclass(frozen=True)
class ToyStart(Start):
    "A plane across each of the first features."
    count: int = 3

    def __call__(self, Z, pairs, rng, memo=None):
        USED.append(self.count)
        normal = np.eye(Z.shape[1], self.count, dtype=Z.dtype)
        return {"normal": normal, "offset": -np.median(Z, axis=0)[: self.count].astype(Z.dtype)}
""",
    "schedules": """
from structhash.masters.schedules.totally_corrective import TotallyCorrective

@dataclass(frozen=True)
class ToySchedule(TotallyCorrective):
    "All weights move."

    def expand(self, free_weights, n_bits):
        USED.append(n_bits)
        return super().expand(free_weights, n_bits)
""",
    "families": """
from structhash.families.base import DEFAULT_START, Family

@dataclass(frozen=True)
class ToyFamily(Family):
    "A random row decides: nearer to it than the median, or not."
    tries: int = 5

    def prepare(self, X, rng):
        return {"mean": X.mean(axis=0)}

    def features(self, X, state):
        return X - state["mean"]

    def learn(self, Z, pairs, rng, start=DEFAULT_START, retry=False):
        USED.append(retry)
        row = Z[rng.integers(len(Z))]
        apart = ((Z - row) ** 2).sum(axis=1)
        return {"row": row[None], "radius": np.array([np.median(apart)])}

    def decide(self, Z, params):
        apart = ((Z[:, None] - params["row"]) ** 2).sum(axis=2)
        return params["radius"] - apart
""",
    "embeddings": """
from structhash.embeddings.base import Embedded, Embedding
from structhash.embeddings._targets import targets_by_cosine

@dataclass(frozen=True)
class ToyEmbedding(Embedding):
    "Class means, as similarities to each."
    labelled = True
    sharp: float = 1.0

    def fit(self, X, class_index, unlabeled, points, rng):
        means = np.stack([X[class_index == c].mean(axis=0) for c in range(class_index.max() + 1)])
        state = {"means": means}
        return Embedded(state, self.embed(X[points], state))

    def embed(self, X, state):
        USED.append(self.sharp)
        return np.exp(-self.sharp * ((X[:, None] - state["means"]) ** 2).sum(axis=2)) + 1e-9

    def targets(self, vectors, queries, partners, multiplicities, state):
        return targets_by_cosine(vectors, queries, partners, multiplicities)
""",
    "baselines": """
from structhash.estimators.base import HashEncoder

class ToyBaseline(HashEncoder):
    "Bits are signs of centred features, as many as asked for."

    def __init__(self, n_bits=4, shift=0.0, random_state=None):
        self.n_bits = n_bits
        self.shift = shift
        self.random_state = random_state

    def fit(self, X, y=None):
        checked = self._check_input(X)
        USED.append(self.shift)
        fitted = {"n_bits_": self.n_bits, "weights_": np.ones(self.n_bits), "history_": []}
        self._store(checked.columns, {**fitted, "mean_": checked.X.mean(axis=0)})
        return self

    def _bits(self, X):
        return (X - self.mean_ > self.shift)[:, : self.n_bits]
""",
    "metrics": """
def found_at_all(blocks, k=100):
    "1 where the first rank can be relevant."
    USED.append(k)
    first = blocks.ptr[:-1]
    return (blocks.hits[first] > 0).astype(float)

NAMES = {"toy@k": found_at_all}
""",
    "indexes": """
from structhash.search.exact import Exact

class ToyIndex(Exact):
    "Exact search under another name."

    def search(self, codes, k):
        USED.append(k)
        return super().search(codes, k)
""",
    "stores": """
from structhash.stores.duckdb import Duckdb

@dataclass(frozen=True)
class ToyStore(Duckdb):
    "A DuckDB file under another name."

    def export(self, codes, n_bits, ids=None, **options):
        USED.append(n_bits)
        super().export(codes, n_bits, ids, **options)
""",
    "supervision": """
from structhash.pair_weights import Comparisons
from structhash.supervision.base import Supervision

@dataclass(frozen=True)
class ToySupervision(Supervision):
    "The row after a row is near, the row half a matrix away is far."
    step: int = 1

    def comparisons(self, X, rng):
        USED.append(self.step)
        rows, one = np.arange(len(X)), np.arange(len(X) + 1)
        near, far = ((rows + shift) % len(X) for shift in (self.step, len(X) // 2))
        return Comparisons(rows, near.astype(np.int32), one, far.astype(np.int32), one)
""",
    "formats": """
from typing import ClassVar
from structhash.io.dataset import Dataset
from structhash.io.formats.base import Format

@dataclass(frozen=True)
class ToyFormat(Format):
    "A line of numbers a row, separated by blanks; the first is the label."
    suffixes: ClassVar[tuple[str, ...]] = (".toy",)

    def read(self, path):
        USED.append(path)
        table = np.array([line.split() for line in path.read_text().splitlines()], float)
        return Dataset(table[:, 1:], table[:, 0].astype(int))
""",
}


def fits_by_method(spec):
    """A use: the method spec fits, encodes, is saved and opened."""

    def use(folder):
        encoder, _ = parse_method(spec).fit(X, Y, 4, 0)
        codes = encoder.encode(X)
        assert codes.shape == (36, 1)
        assert len(np.unique(codes)) > 1
        assert 0 < encoder.score(X, Y) <= 1
        encoder.save(folder / "model")
        again = load_model(folder / "model")
        assert again.get_params() == encoder.get_params()
        np.testing.assert_array_equal(again.encode(X), codes)

    return use


def spells(kind, spec):
    """The text of a changed setting makes the piece, which is spelled back as it was."""
    assert spell(load(kind, spec)) == spec


def scores(folder):
    blocks = metrics.tie_blocks([[1, 2, 3], [1, 1, 2], [1, 2, 3]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert metrics.parse("toy@3")(blocks).tolist() == [1, 1, 0]
    assert "toy@k" in metrics.names()


def searches(folder):
    index, codes = classes("indexes")["toy_index"](8), np.arange(20, dtype=np.uint8)[:, None]
    index.add(codes)
    index.save(folder / "index")
    again = load_index(folder / "index")
    assert type(again) is type(index)
    assert again.search(codes[:3], 1)[1].ravel().tolist() == [0, 1, 2]


def stores(folder):
    store, codes = (
        classes("stores")["toy_store"](str(folder / "codes.db")),
        np.arange(20, dtype=np.uint8)[:, None],
    )
    store.export(codes, 8)
    assert store.search(codes[:3], 1)[1].ravel().tolist() == [0, 1, 2]


def supervises(folder):
    encoder = StructHash(4, random_state=0).fit(X, load("supervision", "toy_supervision:step=2"))
    encoder.save(folder / "model")
    np.testing.assert_array_equal(load_model(folder / "model").encode(X), encoder.encode(X))


def reads(folder):
    path = folder / "data.toy"
    path.write_text("".join(f"{label} {' '.join(map(repr, row))}\n" for label, row in zip(Y, X.tolist())))
    data = io.read(path)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, Y)


FEW = "n_near=3,n_far=3"
USES = {
    "rankings": fits_by_method(f"structhash:ranking=toy_ranking:factor=1.5,{FEW}"),
    "losses": fits_by_method(f"cghash:loss=toy_loss,{FEW}"),
    "regularizers": fits_by_method(f"cghash:regularizer=toy_regularizer:price=0.25,{FEW}"),
    "starts": fits_by_method(f"structhash:start=toy_start:count=2,{FEW}"),
    "schedules": fits_by_method(f"structhash:schedule=toy_schedule,{FEW}"),
    "families": fits_by_method(f"structhash:family=toy_family:tries=3,{FEW}"),
    "embeddings": fits_by_method("distilhash:embedding=toy_embedding:sharp=0.5"),
    "baselines": fits_by_method("toy_baseline:shift=0.25"),
    "metrics": scores,
    "indexes": searches,
    "stores": stores,
    "supervision": supervises,
    "formats": reads,
}
SPELLINGS = {
    "rankings": "toy_ranking:factor=1.5",
    "regularizers": "toy_regularizer:price=0.25",
    "starts": "toy_start:count=2",
    "families": "toy_family:tries=3",
    "embeddings": "toy_embedding:sharp=0.5",
    "supervision": "toy_supervision:step=2",
}


def test_every_kind_has_a_toy():
    assert set(TOYS) == set(USES) == {*KINDS, "metrics"}
    assert len(TOYS) == 13


@pytest.mark.parametrize("kind", TOYS)
def test_a_file_in_the_folder_is_a_piece_with_no_edit_anywhere_else(kind, drop_piece, tmp_path):
    drop_piece(kind, HEAD + TOYS[kind])
    if kind in KINDS:
        (name,) = [each for each in names(kind) if each.startswith("toy_")]
        with pytest.raises(ValueError, match=name):
            load(kind, "nosuch")
    if kind in SPELLINGS:
        spells(kind, SPELLINGS[kind])
    USES[kind](tmp_path)
    assert sys.modules[f"{KINDS.get(kind, 'structhash.metrics')}.toy"].USED


def test_the_toys_are_gone_again():
    assert not [name for kind in KINDS for name in names(kind) if name.startswith("toy")]
    assert not [name for name in metrics.names() if name.startswith("toy")]


def test_private_modules_and_classes_are_no_pieces(drop_piece, tmp_path):
    drop_piece(
        "rankings", "from structhash.objectives.rankings.auc import AUC\n\nclass _Hidden(AUC):\n    pass\n"
    )
    (tmp_path / "rankings" / "_private.py").write_text("class Private:\n    pass\n")
    (tmp_path / "rankings" / "base.py").write_text("class Base:\n    pass\n")
    assert not {"_hidden", "hidden", "private", "base"} & set(names("rankings"))
    assert names("rankings").count("auc") == 1
