"""What a weight costs: regularisers of the master.

All are one problem, min cost'w + C loss(w) with 0 <= w <= upper: l1 at (cost, upper) = (1, inf), l-infinity
at (0, C'), a weighted l1 at costs of each bit's own. A new bit helps where its h'Lh is more than its cost;
`charge` takes from the pair weights what of the cost differs from bit to bit: the family sees it there.
"""
