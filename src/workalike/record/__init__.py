"""What an engine said of a run: its record, and what follows from it alone."""
