"""The record of a run, and how close a replica came to its original (fidelity)."""
