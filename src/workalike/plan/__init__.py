"""From a workload to a plan: pure data that the engine performs."""
