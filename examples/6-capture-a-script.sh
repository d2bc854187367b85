#!/bin/sh
# A log of an unmodified program, here a Python script, and of the files that it is about.
set -eu
out=$(mktemp -d)
cat > "$out/steps.py" <<'PY'
import os
for step in range(3):
    with open(f"state-{step}.bin", "wb", buffering=0) as file:
        for _ in range(10):
            file.write(bytes(4096))
        os.fsync(file.fileno())
PY
(cd "$out" && workalike profile --exclude . --include state- -o steps.darshan -- python steps.py) 2>/dev/null

workalike characterize "$out/steps.darshan" -o "$out/steps.yaml" | sed "s|$out|OUT|"
grep 'role:\|interface:\|sizes:\|fsyncs:' "$out/steps.yaml"
rm -r "$out"
