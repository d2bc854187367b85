"""The ways in which the counters of a family can have come about."""
