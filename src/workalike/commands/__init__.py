"""One module per command; each registers itself with the application."""
