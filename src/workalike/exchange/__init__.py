"""Workloads from and to other tools: one module per tool; `registry` lists them."""
