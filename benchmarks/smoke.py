"""Every method once, small: shows that the comparison runs from end to end. Not a benchmark.

python benchmarks/smoke.py
"""

from sklearn.datasets import load_digits

from structhash.evaluation.compare import compare
from structhash.evaluation.methods import every_method
from structhash.evaluation.report import summarise
from structhash.evaluation.report import table as as_text

if __name__ == "__main__":
    X, y = load_digits(return_X_y=True)
    print(as_text(summarise(compare(every_method(), X, y, bits=[16], seeds=[0], n_train=500))), end="")
