import numpy as np

from structhash.metrics import sndcg


def test_sndcg_is_the_mean_over_all_orders(assert_mean_over_orders):
    def plain(grades):
        misses = np.cumsum(grades == 0)[grades > 0]
        return (1 / np.log2(2 + misses)).mean()

    assert_mean_over_orders(sndcg, plain)
