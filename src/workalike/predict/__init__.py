"""What a log of a plan's run would say: the counters that a plan determines, and how far a log is from them."""
