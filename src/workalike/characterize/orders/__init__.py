"""Orders that are made from counters, where no rule gives them: the operations of an operation table."""
