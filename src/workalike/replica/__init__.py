"""From a log to a verified replica: what the commands, studies and notebooks call."""
