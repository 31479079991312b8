"""Masters: the weights of the bits so far, and the pair weights for the next bit. `base` is the contract."""
