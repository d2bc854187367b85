"""Workloads from and to other tools: one module a tool, `registry` lists them."""
