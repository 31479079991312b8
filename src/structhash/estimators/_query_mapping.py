"""Adapt the queries of a fitted model to judgements. Rows keep their codes."""

from __future__ import annotations

import copy
import logging
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from structhash._numerics.validation import describe
from structhash.estimators._input import CheckedInput, columns_of, open_queries, open_rows
from structhash.estimators._new_classes import NewClassEncoder
from structhash.supervision import Qrels
from structhash.training.hash_function import BitFunction
from structhash.training.judgements import JudgedFolds, relevant_documents, with_query_map
from structhash.training.row_bits import Interleaved

logger = logging.getLogger("structhash")


class QueryMappingEncoder(NewClassEncoder):
    """An estimator whose queries may be mapped before they are coded."""

    def adapt_queries(self, X: Any, qrels: Qrels) -> Self:
        """A model with the same codes of rows, whose query codes are learned from judgements such as clicks.

        Queries are mapped before they are coded (`structhash.training.query_map`) where that helps held-out
        judged queries. Otherwise the codes of queries stay as they were learned without judgements; the log
        says so, and ``queries_differ()`` of the result is false. Codes and indexes of rows stay valid:
        `fingerprint` stays the same. Some dozens of judged queries seldom suffice; on banking77 a thousand did.

        Parameters
        ----------
        X : array (n, d)
            The documents that the judgements name, encoded already or not.
        qrels : Qrels

        Returns
        -------
        DistilHash
            A new estimator; this one stays as it is. A query map that it has is replaced.

        Raises
        ------
        ValueError, TypeError
            If X or the judgements are not allowed, or the bits are not planes among the rows.
        """
        check_is_fitted(self)
        if not isinstance(qrels, Qrels):
            raise TypeError(f"qrels={describe(qrels)}: give Qrels(judgements, Q)")
        function = self.hash_function_.row_function
        if function.planes() is None:
            raise ValueError(
                "the queries of this model cannot be mapped, as its bits are not planes among the rows; "
                "fit one with family='linear' and embedding='centered'"
            )
        checked = CheckedInput(open_rows(self, X), columns_of(self))
        qrels = open_queries(self, checked, qrels)
        folds = JudgedFolds(checked.X, qrels, relevant_documents(checked.X, qrels))
        function, _ = with_query_map(function, folds)
        if function.row_function is function:
            logger.warning("a query map does not help held-out judged queries: queries are coded without one")
        return self._with_function(function)

    def fingerprint(self) -> str:
        """As `HashEncoder.fingerprint`. A query map does not count, since codes of rows do not depend on it."""
        check_is_fitted(self)
        if not self._maps_queries():
            return super().fingerprint()
        return self._with_function(self.hash_function_.row_function).fingerprint()

    def _maps_queries(self) -> bool:
        """Whether queries are mapped before they are coded."""
        return self.hash_function_.row_function is not self.hash_function_

    def _about_coding(self) -> dict[str, Any]:
        """How rows and queries are coded, for `about`."""
        function = self.hash_function_
        rows = {"row bits": function.rows.n_bits} if isinstance(function, Interleaved) else {}
        queries = "codes of their own" if self.queries_differ() else "coded like rows"
        return {**rows, "queries": "mapped before they are coded" if self._maps_queries() else queries}

    def _with_function(self, function: BitFunction) -> Self:
        """A copy with another hash function."""
        other = copy.copy(self)
        other.hash_function_ = function
        other.judged_ = used_judgements(function)
        return other


def used_judgements(function: BitFunction) -> bool:
    """Whether codes of rows or of queries were learned from judgements."""
    return function.embedding is None or function.row_function is not function
