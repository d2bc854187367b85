"""How close a replica came to its original (fidelity)."""
