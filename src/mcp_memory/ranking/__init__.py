"""Ranking arithmetic, without input or output."""
