#!/bin/sh
# A workload without a log: the I/O of an application that is still being designed.
set -eu
out=$(mktemp -d)
cat > "$out/planned.yaml" <<'YAML'
workalike: 2
ranks: 4096
runtime: 2 h
families:
- role: checkpoint
  interface: mpiio
  schedule: {count: 12, first: 10 min, every: 10 min}
  content:
    streams:
    - {direction: write, sizes: [4/rank x 16 MiB], collective: true}
YAML
workalike check "$out/planned.yaml" | sed "s|$out|OUT|"

# Every operation of all ranks, counted; nothing is written.
workalike run "$out/planned.yaml" --backend null --time-scale 0 --dir "$out" -o "$out/counted" --quiet
python - "$out/counted/run.json" <<'PY'
import json, sys
dumps = json.load(open(sys.argv[1]))["dumps"]
print(len(dumps), "checkpoints,", f"{sum(d['bytes_written'] for d in dumps):,} bytes")
PY

# Two ranks, a 16,384th of the bytes, no waiting: files that are verified and deleted.
workalike run "$out/planned.yaml" --ranks 2 --bytes-scale 1/16384 --time-scale 0 --verify --dir "$out" -o "$out/small" --quiet
python - "$out/small/run.json" <<'PY'
import json, sys
record = json.load(open(sys.argv[1]))
print(len(record["files"]), "files of", record["files"][0]["size"], "bytes; wrong after reading back:", record["verified"]["errors"])
PY
rm -r "$out"
