"""What a log says, merged by file and family, without interpretation as a workload."""
