"""Families whose trace (DXT) is complete."""
