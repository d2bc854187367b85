"""When dumps, reads, writes and computing were."""
