"""Ranking measures, one file each: formula, search for the most violated ranking, public settings."""
