"""Fleets with known properties, for tests and demonstrations."""
