"""Conflicts of ranks: overlapping accesses under four consistency models, by happens-before."""
