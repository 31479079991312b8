"""What is optimised: triplet losses, ranking measures and regularisers."""
