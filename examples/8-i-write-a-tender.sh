#!/bin/sh
# "I write a tender": workloads for bidders, who need neither workalike nor Python, and what comes back from one.
set -eu
log=tests/data/checkpoints-4.darshan
out=$(mktemp -d)

# A workload that gives away little, and the proof that no name of the log is in it.
workalike characterize "$log" -o "$out/checkpoints.yaml" --privacy rounded >/dev/null
workalike check "$out/checkpoints.yaml" --audit "$log" >"$out/audit.txt"
head -5 "$out/audit.txt"
tail -1 "$out/audit.txt"

# The bundle for the bidders. Only two settings may be tuned.
workalike bundle "$out/checkpoints.yaml" -o "$out/tender.tar.gz" --repeats 2 --tunable cb_nodes,stripe_count --quiet

# A bidder unpacks it and builds the engine with ./build.sh. Here the engine is taken that is there already.
(cd "$out" && tar xf tender.tar.gz && mkdir -p tender/build scratch)
cp "$(workalike engine list --json | python -c 'import json, sys; print(next(e["path"] for e in json.load(sys.stdin) if e["used"]))')" \
    "$out/tender/build/"
(cd "$out/tender" && ./run.sh "$out/scratch") 2>/dev/null >/dev/null

# What came back is checked against what was sent out.
workalike bundle "$out/tender.tar.gz" --collect "$out/tender/results.tar.gz" --system bidder-a -o "$out/bidder-a" --quiet >/dev/null || \
    echo "left out: these runs are far smaller than the memory of the system"
ls "$out/bidder-a"
rm -r "$out"
