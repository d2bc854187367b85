"""One module a command; each registers itself with the application."""
