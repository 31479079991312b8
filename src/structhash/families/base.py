"""The contract of a family of bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.program import Program
from structhash.codes.planes import Planes
from structhash.families.starts.base import Start
from structhash.families.starts.spectral import Spectral
from structhash.io.fields import Fields, check_fields
from structhash.pair_weights import PairWeights
from structhash.pieces import Params

__all__ = ["DEFAULT_START", "Family"]

DEFAULT_START = Spectral()


class Family:
    """One kind of hash function: a bit is 1 where `decide` gives a value above 0.

    A subclass is a frozen dataclass whose fields are settings. Everything learned is returned: `state` (from
    `prepare`) and `params` (from `learn`) are dicts of plain arrays. X may have any number type and may be a
    memory map; a family turns it into floats a block of rows at a time (`structhash._numerics.blocks`).

    Attributes
    ----------
    state_fields : tuple of Field or None
        What `state` holds. Models from files are held to it; a family without a declaration takes any numbers,
        so one with compiled kernels needs it. "n_features" is the width of the rows.
    bit_fields : tuple of Field or None
        What the parameters of "n_bits" bits hold.
    """

    state_fields: ClassVar[Fields | None] = None
    bit_fields: ClassVar[Fields | None] = None

    def prepare(self, X: NDArray[Any], rng: np.random.Generator) -> Params:
        """State that all bits share, such as a mean or anchors, from the training rows X (n, d)."""
        raise NotImplementedError

    def features(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Features Z (n, m) of rows X (n, d), float32 or float64."""
        raise NotImplementedError

    def learn(
        self,
        Z: NDArray[Any],
        pairs: PairWeights,
        rng: np.random.Generator,
        start: Start = DEFAULT_START,
        retry: bool = False,
    ) -> Params:
        """Parameters of one bit with a high score h'Lh under the pair weights.

        Parameters
        ----------
        Z : ndarray (n, m)
            Features of the training points.
        pairs : PairWeights
        rng : Generator
        start : Start
            Where the search begins.
        retry : bool
            True where the same call gave a bit that exists already: the search must be able to end elsewhere.

        Returns
        -------
        dict of arrays
            Each with a leading axis of length 1; the parameters of m bits are these, concatenated.
        """
        raise NotImplementedError

    def decide(self, Z: NDArray[Any], params: Params) -> NDArray[Any]:
        """Real values (n, n_bits) before the sign, of features Z (n, m)."""
        raise NotImplementedError

    def express(self, program: Program, X: str, state: Params, params: Params) -> str:
        """`decide` of the `features` of a value X as steps of a program.

        Parameters
        ----------
        program : Program
        X : str
        state, params : dict of arrays

        Returns
        -------
        str
            Real values of the bits.

        Raises
        ------
        ValueError
            If the family has no such steps.
        """
        raise ValueError(f"bits of the family {type(self).__name__} cannot be exported; learn another family")

    def check_state(self, state: Params, params: Params, sizes: Mapping[str, int]) -> None:
        """ValueError unless state and parameters, which came from a file, are as declared.

        Parameters
        ----------
        state, params : dict of arrays
        sizes : dict of str to int
            "n_features" of the rows, and "n_bits".
        """
        check_fields(self.bit_fields, params, check_fields(self.state_fields, state, sizes))
        if not params or any(len(array) != sizes["n_bits"] for array in params.values()):
            raise ValueError(f"it holds no parameters of {sizes['n_bits']} bits")

    def planes(self, state: Params, params: Params) -> Planes | None:
        """The same bits as planes among the rows; None where they are not planes.

        Encoding uses the planes in place of `features` and `decide`: a subclass that overrides one of the three
        overrides all three.
        """
        return None
