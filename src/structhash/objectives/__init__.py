"""Triplet losses and regularisers."""
