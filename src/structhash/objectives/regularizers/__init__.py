"""Regularisers of the master, one file each: the cost of a weight, and its upper bound.

All are one problem, min cost'w + C loss(w) with 0 <= w <= upper. l1 has (cost, upper) = (1, inf), l-infinity
has (0, bound), and a weighted l1 has a cost for each bit. A new bit helps where its h'Lh exceeds its cost. A
cost that differs from bit to bit is charged to the pair weights, so that the family takes it into account: see
`base.Regularizer.charge_costs`.
"""
