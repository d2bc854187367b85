#!/bin/sh
# "I run a centre": the logs of all jobs in one database, what they say, and the few jobs that stand for all.
set -eu
out=$(mktemp -d)

# Sixty made-up jobs; at a centre these are its own logs, and `fleet ingest` is called by cron.
workalike fleet generate -o "$out/made" --jobs 60 --seed 1 >/dev/null 2>&1
workalike fleet ingest "$out/made/logs" --db "$out/db" --site "$out/made/site.yaml" --quiet
workalike fleet report --db "$out/db" >"$out/report.txt"
head -12 "$out/report.txt"

# The portal is `workalike fleet serve --db DB`. The suite has the workloads of the jobs that stand for the others.
workalike fleet suite --db "$out/db" -o "$out/suite" >/dev/null
ls "$out/suite"
rm -r "$out"
