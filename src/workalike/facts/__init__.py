"""What a log says, merged by file. Nothing in here interprets it as a workload."""
