"""Batch systems: a script is written and submitted, and its job is waited for. One small class for each system."""
