"""
New classes
===========

Labels are there for the digits 0 to 5, but the database also holds 6 to 9. Labels alone teach codes that mix
up digits which they never saw. Give the rows that you search as ``unlabeled``, and new classes keep their
order, too.
"""

# %%
# 400 labelled rows of the known digits, a database of 1,547 rows of all digits, and 250 queries of all
# digits.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.evaluation import code_blocks, float_blocks, retrieval, same_label

X, y = load_digits(return_X_y=True)
queries, database = np.arange(1547, 1797), np.arange(1547)
labelled = database[y[database] <= 5][:400]
new = y[queries] > 5

# %%
# A model that has seen labels only can tell that many rows are of no class that it knows. ``encode`` warns of
# it.
known_only = DistilHash(n_bits=32, random_state=0).fit(X[labelled], y[labelled])
print(f"at least {known_only.new_class_share(X[database]):.0%} of the database are of new classes")
helped = DistilHash(n_bits=32, random_state=0).fit(X[labelled], y[labelled], unlabeled=X[database])


def scores(blocks):
    """Mean average precision of the queries of known and of new classes."""
    each = retrieval(blocks, ["map"]).per_query["map"]
    return each[~new].mean(), each[new].mean()


relevant = same_label(y[queries], y[database])
found = {"float vectors\n(512 bytes)": scores(float_blocks(X[queries], X[database], relevant))}
for name, encoder in (("labels only\n(4 bytes)", known_only), ("labels and unlabeled\n(4 bytes)", helped)):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        codes = encoder.encode(X[database])
    print(f"{encoder.about()['embedding']}: {told[0].message if told else 'no warning'}")
    found[name] = scores(code_blocks(encoder.encode_queries(X[queries]), codes, relevant))

# %%
# Labels alone serve the known digits best, and ruin the new ones. With the unlabeled rows both are served,
# better than by the vectors.
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
places = np.arange(len(found))
for shift, name, colour, hatch, part in ((-0.2, "known", "#0072b2", "", 0), (0.2, "new", "#e69f00", "//", 1)):
    values = [each[part] for each in found.values()]
    bars = ax.bar(places + shift, values, 0.38, color=colour, hatch=hatch, edgecolor="white")
    bars.set_label(f"queries of {name} digits")
    ax.bar_label(bars, fmt="{:.2f}", padding=2)
ax.set(ylabel="mean average precision", ylim=(0, 1.15))
ax.set_xticks(places, found)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left", ncols=2)
plt.show()
