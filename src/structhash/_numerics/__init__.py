"""Numerical helpers that several packages share."""
