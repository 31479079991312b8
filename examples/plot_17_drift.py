"""
Drift: when to fit again
========================

New rows may differ from those that a model was learned from. ``judge_drift`` fits the same method on a part
of the new rows, asks both models the same held-out queries, and says *refit* only where the gain is certain.
"""

# %%
# A model of the first 900 digits, without labels. The other digits come from a camera that drifts: each pixel
# mixes more and more with another one, up to a picture whose pixels are in another order.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.evaluation import judge_drift

X, _ = load_digits(return_X_y=True)
encoder = DistilHash(n_bits=16, random_state=0).fit(X[:900])
rng = np.random.default_rng(0)
pixels = rng.permutation(64)


def drifted(rows, strength):
    """Rows whose pixels are mixed with others."""
    return (1 - strength) * rows + strength * rows[:, pixels]


strengths = [0.0, 0.25, 0.5, 0.75, 1.0]
found = [judge_drift(encoder, drifted(X[900:], strength), training=X[:900]) for strength in strengths]
for strength, drift in zip(strengths, found):
    print(f"{strength:.2f}: {drift.verdict} -- {drift.reasons[0]}")

# %%
# A little drift costs little, and the model stays. Then the old model falls behind.
model, refit = ([getattr(drift.gain, name) for drift in found] for name in ("model", "refit"))
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.plot(strengths, refit, "o-", color="#0072b2", label="after a refit")
ax.plot(strengths, model, "s-", color="#d55e00", label="the old model")
for strength, drift in zip(strengths, found):
    weight = "bold" if drift.verdict == "refit" else "normal"
    ax.annotate(drift.verdict, (strength, 0.03), ha="center", weight=weight)
ax.set(xlabel="strength of the drift", ylabel="recall of the ten nearest", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
