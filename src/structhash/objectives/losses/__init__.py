"""Triplet losses f(rho) of the margin rho = w'dh, one file each.

With c_T = C times the share of triplet T in the mean loss, the master of CGHash and its dual are
(eq. cgh-general-l1 and its dual, whose factor C before f* the paper leaves out)

    min_w   cost'w + sum_T c_T f(w'dh_T)          s.t.  w >= 0,
    max_mu  -sum_T c_T f*(-mu_T / c_T)            s.t.  sum_T mu_T dh_rT <= cost_r for every bit r,

and mu_T = -c_T f'(rho_T) joins the two (eq. cgh-general-kkt). A loss gives

- `smooth`, a class flag: without it there is no KKT dual and no Newton step, but a cutting plane
  (`most_violated`, see `Hinge`);
- `value` f, `slope` f' (<= 0) and `conjugate` f*(u) = sup_rho u rho - f(rho), elementwise;
- `sums`, `scaled_conjugate` and, where smooth, `curvature` over *structured* triplets, all (near j, far k) of
  each query with rho = far_k - near_j, which are never listed. Distances and pointers as in
  `Ranking.most_violated`, no part of a query empty.
"""
