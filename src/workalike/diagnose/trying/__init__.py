"""Findings tried: the characterized workload with and without what a finding asks to change, as a paired study."""
