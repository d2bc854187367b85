"""Several workloads at the same time, and how much each is slowed down (docs/mix.md)."""
