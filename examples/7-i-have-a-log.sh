#!/bin/sh
# "I have a log": what is wrong with the I/O, a replica of it, and how far the replica can be trusted.
set -eu
log=tests/data/checkpoints-4.darshan
out=$(mktemp -d)

# What the file is, and what can be done with it.
workalike "$log"

# What is wrong with its I/O. Nothing is, and the rest says what this log cannot show.
workalike diagnose "$log" | sed '/^Cannot tell/q'

# A replica of the same size. It fails here unless its bytes and its number of operations are those of the log.
workalike replicate "$log" -o "$out/replica" --full --require bytes=0%,ops=0% | sed -n '/^verdict/,/^length/{/^length/q;p}'
rm -r "$out"
