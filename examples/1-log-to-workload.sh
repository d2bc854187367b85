#!/bin/sh
# From a log to a workload file that may leave the site.
set -eu
log=tests/data/checkpoints-4.darshan
out=$(mktemp -d)

# Times are rounded on request: a log's own microseconds would identify one run.
workalike characterize "$log" -o "$out/app.yaml" --privacy rounded | sed "s|$out|OUT|"
grep -A 1 'sizes\|sharing' "$out/app.yaml" | grep -v '^--'

# What it says in words, and the proof that no path, host or user of the log is in it.
workalike check "$out/app.yaml" --audit "$log" | sed "s|$out|OUT|"
rm -r "$out"
