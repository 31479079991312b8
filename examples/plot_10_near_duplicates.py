"""
Near-duplicates: choose a radius with a bound
=============================================

Which radius merges duplicates, and seldom anything else? Label a sample of near pairs, and take the largest
radius whose share of false merges is low, with an upper bound that holds.
"""

# %%
# Digits, and a copy of a part of them with a little noise on each pixel. ``near_pairs`` gives all pairs
# within a large radius.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.plots import radius_calibration
from structhash.search import choose_radius, near_groups, near_pairs

X, _ = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
copied = rng.choice(len(X), 900, replace=False)
rows = np.vstack([X, X[copied] + rng.normal(scale=0.35, size=(900, 64))])
source = np.concatenate([np.arange(len(X)), copied])
encoder = DistilHash(n_bits=96, random_state=0).fit(X[:600])
codes = encoder.encode(rows)
i, j, distances = (np.concatenate(part) for part in zip(*near_pairs(codes, n_bits=96, radius=6)))

# %%
# Somebody looks at 1,000 of these pairs. Here the truth is known.
sample = rng.choice(len(i), 1000, replace=False)
duplicates = source[i[sample]] == source[j[sample]]
chosen = choose_radius(distances[sample], duplicates, false_merge_rate=0.03)
merged = distances <= chosen.radius
false = (source[i] != source[j])[merged].mean()
groups = near_groups(codes, n_bits=96, radius=chosen.radius)
print(f"radius {chosen.radius:g}: at most {chosen.upper_bound:.1%} of merges are false; in truth {false:.1%}")
print(f"{len(rows)} rows form {len(np.unique(groups))} groups; there are {len(X)} digits")
assert false <= chosen.upper_bound

# %%
# The bound (dashed) decides, not the rate in the sample: it also covers what the sample cannot show.
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
radius_calibration(distances[sample], duplicates, false_merge_rate=0.03, ax=ax)
ax.set(xlabel="radius in bits", ylabel="share")
ax.spines[["top", "right"]].set_visible(False)
ax.get_legend().set(frame_on=False, loc=(0.4, 0.33))
plt.show()
