"""Triplet losses f(rho) of the margin rho = w'dh, one file each.

With c_T = C times the share of triplet T in the mean loss, the master of CGHash and its dual are
(eq. cgh-general-l1; the paper's dual lacks the factor C before f*)

    min_w   cost'w + sum_T c_T f(w'dh_T)          s.t.  w >= 0,
    max_mu  -sum_T c_T f*(-mu_T / c_T)            s.t.  sum_T mu_T dh_rT <= cost_r for every bit r,

and mu_T = -c_T f'(rho_T) links the two (eq. cgh-general-kkt). `base.Loss` is the contract of a loss.
"""
