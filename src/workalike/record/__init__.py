"""The record of a run, as the engine writes it, and what follows from it alone."""
