"""Where the search for a bit begins: planes, as ``normal`` (d, m) and ``offset`` (m,)."""
