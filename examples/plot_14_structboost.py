"""
StructBoost ranks with weak rankers
===================================

StructBoost (Shen, Lin, van den Hengel 2014, https://arxiv.org/abs/1302.3283) boosts weak structured learners
by column and constraint generation. For ranking, our master solves the same problem when the columns are weak
rankers.
"""

# %%
# A document of a query has features, and its score is ``sum_t w_t h_t(document)`` with stumps ``h_t``. Give
# every query a point at which every stump is 1. The distance of a document to it is ``sum_t w_t (1 - h_t)``:
# documents with high scores are near. Here are 30 queries of 12 documents each. Relevance is not linear in
# the features.
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog
from sklearn.linear_model import LogisticRegression

from structhash import Qrels, StructHash
from structhash.evaluation import retrieval

rng = np.random.default_rng(0)
n_documents, n_features, C = 12, 4, 300.0


def draw(n_queries):
    """Features (n_queries, n_documents, n_features), and which documents are relevant."""
    F = rng.uniform(-1, 1, (n_queries, n_documents, n_features))
    truth = np.sin(3 * F[..., 0]) + F[..., 1] ** 3 - np.abs(F[..., 2]) + 0.2 * rng.normal(size=F.shape[:2])
    return F, truth > np.sort(truth, axis=1)[:, [-5]]


def both_ways(F):
    """Rows for stumps of both directions, [x_j > threshold] and [x_j < threshold]."""
    return np.concatenate([F, -F], axis=-1).reshape(-1, 2 * n_features)


F, relevant = draw(30)
documents, ideal = both_ways(F), np.full((30, 2 * n_features), 2.0)
numbers = np.arange(len(documents))
judged = np.column_stack([numbers // n_documents, numbers, relevant.ravel()])
qrels = Qrels(judged, ideal, n_near=n_documents, n_far=n_documents, unjudged="ignore")
booster = StructHash(
    150, ranking="auc", family="stump", schedule="totally_corrective", C=C, tolerance=1e-6, stop_at_optimum=True
).fit(documents, qrels)
objective = [step["objective"] for step in booster.history_]

# %%
# Check: the loss of AUC is a mean of hinges, ``max(0, 1 - 2 (score of relevant - score of irrelevant))``. So
# the problem with all stumps there are is one linear programme, which scipy solves.
cuts = [np.append(np.sort(column), 2.0) for column in documents.T]
H = np.hstack([1.0 * (documents[:, [j]] > (each[1:] + each[:-1]) / 2) for j, each in enumerate(cuts)])
pairs = [
    (H[first + i] - H[first + j])
    for first, own in zip(range(0, len(documents), n_documents), relevant)
    for i in np.flatnonzero(own)
    for j in np.flatnonzero(~own)
]
n = len(pairs)
costs = np.append(np.ones(H.shape[1]), np.full(n, C / n))
program = linprog(costs, A_ub=-np.hstack([2 * np.array(pairs), np.eye(n)]), b_ub=-np.ones(n))
print(f"column generation {objective[-1]:.5f}; all {H.shape[1]} stumps at once {program.fun:.5f}")
assert abs(objective[-1] - program.fun) < 1e-4 * program.fun

# %%
# Scores of 200 other queries, and those of a linear classifier of the relevant documents.
F_test, relevant_test = draw(200)
bits = booster.transform(both_ways(F_test))
linear = LogisticRegression().fit(F.reshape(-1, n_features), relevant.ravel())


def auc(score):
    """Mean AUC of the test queries."""
    return retrieval([(-score.reshape(relevant_test.shape), relevant_test)], ["auc"]).mean["auc"]


n_rankers = np.arange(1, booster.n_bits_ + 1)
boosted = [auc(bits[:, :t] @ booster.weights_at(t)) for t in n_rankers]
by_line = auc(linear.decision_function(F_test.reshape(-1, n_features)))
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(n_rankers, objective, "o-", ms=3, color="#0072b2", label="column generation")
left.axhline(program.fun, color="#d55e00", linestyle="--", label="all stumps at once (scipy)")
left.set(xlabel="weak rankers", ylabel="objective of StructBoost", ylim=(0, None))
right.plot(n_rankers, boosted, "o-", ms=3, color="#0072b2", label="StructBoost")
right.axhline(by_line, color="#009e73", linestyle="-.", label="logistic regression")
right.set(xlabel="weak rankers", ylabel="AUC of other queries", ylim=(0.5, 1))
for ax in (left, right):
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
