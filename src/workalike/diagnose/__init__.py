"""What a log says is wrong with a job's I/O, what it costs, and what to change."""
