"""Two logs, or a log and several earlier ones, compared by their facts: no workload is made."""
