"""workload -> plan: pure data that the engine performs."""
