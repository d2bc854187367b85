"""Fidelity: the comparison of a replica with its original."""
