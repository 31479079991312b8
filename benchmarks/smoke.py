"""Fits every method once on little data: shows that the comparison runs from end to end. Not a benchmark.

python benchmarks/smoke.py
"""

from sklearn.datasets import load_digits

from structhash.evaluation import as_table, compare, every_method, summarise

if __name__ == "__main__":
    X, y = load_digits(return_X_y=True)
    print(as_table(summarise(compare(every_method(), X, y, bits=[16], seeds=[0], n_train=500))), end="")
