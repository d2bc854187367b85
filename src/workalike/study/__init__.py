"""Studies: one workload under many settings, with answers that hold when they are measured again."""
