"""What a library does below its calls: it cannot be computed, so it is performed once and compared with the log."""
