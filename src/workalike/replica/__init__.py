"""From a log to a verified replica: the library below commands and notebooks."""
