"""Ranking measures, one file each: formula, settings, and the search for the most violated ranking."""
