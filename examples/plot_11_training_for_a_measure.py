"""
Training for a ranking measure
==============================

``StructHash`` learns codes for the measure that you name. AUC weighs the whole ranking, precision at 10 only its
head. What you train for is what you get.
"""

# %%
# 500 digits to learn from, 797 to search, 500 queries, 16 bits; means over three seeds.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from structhash import Labels, StructHash
from structhash.evaluation import code_blocks, retrieval, same_label

X, y = load_digits(return_X_y=True)
relevant = same_label(y[500:1000], y[1000:])
trained = {"AUC": "auc", "NDCG at 10": "ndcg:k=10", "precision at 10": "precision:k=10"}
measured = {"AUC": "auc", "NDCG at 10": "ndcg@10", "precision at 10": "precision@10"}
table = np.zeros((3, 3))
for seed in range(3):
    for row, ranking in zip(table, trained.values()):
        encoder = StructHash(n_bits=12, ranking=ranking, random_state=seed).fit(X[:500], Labels(y[:500], 40, 120))
        blocks = code_blocks(encoder.encode(X[500:1000]), encoder.encode(X[1000:]), relevant)
        row += np.array(list(retrieval(blocks, measured.values()).mean.values())) / 3

# %%
print(table.round(4))
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
behind = table - table.max(axis=0)
picture = ax.imshow(behind, "Blues", vmin=behind.min() * 1.5)
for (row, column), value in np.ndenumerate(table):
    dark = behind[row, column] > behind.min() * 0.6
    ax.annotate(f"{value:.3f}", (column, row), ha="center", va="center", color="white" if dark else "black")
ax.set(xlabel="measured", ylabel="trained for")
ax.set_xticks(range(3), measured)
ax.set_yticks(range(3), trained)
plt.show()
