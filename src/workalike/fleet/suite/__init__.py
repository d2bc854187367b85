"""The few jobs that stand for a centre: chosen by what they do to storage, weighted by what they cost."""
