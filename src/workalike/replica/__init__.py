"""From a log to a verified replica: the library behind commands and notebooks."""
