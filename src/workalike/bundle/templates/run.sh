#!/bin/sh
# Performs every workload of this bundle @REPEATS@ times in a folder of the file system under test:
#   ./run.sh @FOLDERS@
#   LAUNCH="srun -n" ./run.sh DIR      # the launcher; the number of ranks and the engine follow
# A run that has finished is not repeated, so that the same command goes on after an interruption.
# Exit codes: 0 all runs finished; 1 some failed; 2 bad usage.
set -eu
usage() {
  echo "usage: ./run.sh @FOLDERS@   (folders of the file systems under test)" >&2
  exit 2
}
data=
given=" "
# Each argument becomes the folder that runs make in it, with its name before it.
for argument in "$@"; do
  shift
  name=
  case ${argument%%=*} in "$argument" | "" | [!A-Za-z]* | *[!A-Za-z0-9-]*) ;; *) name=${argument%%=*}= ;; esac
  folder=${argument#"$name"}
  [ -d "$folder" ] || usage
  folder=$(cd "$folder" && pwd)
  [ -n "$name" ] || { [ -z "$data" ] || usage; data=$folder; }
  given="$given$name "
  set -- "$@" --dir "$name$folder/workalike-bundle-$$"
done
[ -n "$data" ] || usage
for name in@NAMES@; do
  case $given in *" $name= "*) ;; *) usage ;; esac
done
# What follows the options is `/...` or `NAME=/...`.
in_each() {
  command=$1
  shift
  for word in "$@"; do
    [ "$word" = --dir ] || $command "/${word#*/}" || echo "/${word#*/} is left: it is not empty" >&2
  done
}
here=$(cd "$(dirname "$0")" && pwd)
launch=${LAUNCH:-mpiexec -n}
engine="$here/build/workalike-engine"
results="$here/results"
if [ ! -x "$engine" ]; then
  echo "run ./build.sh first" >&2
  exit 2
fi
mkdir -p "$results"
repeat=1
failed=0
while [ "$repeat" -le @REPEATS@ ]; do
  while read -r name ranks; do
    out="$results/$name/$repeat"
    [ -e "$out/done" ] && continue
    rm -rf "$out"
    mkdir -p "$out"
    cp "$here/plans/$name/plan.json" "$out/plan.json"
    echo "run $repeat of @REPEATS@: $name, $ranks ranks" >&2
    in_each "mkdir -p" "$@"
    # shellcheck disable=SC2086
    if $launch "$ranks" "$engine" --plan "$here/plans/$name/plan.json" "$@" \
      --record "$out/run.jsonl" --quiet </dev/null 2>"$out/messages"; then
      : >"$out/done"
    else
      echo "$name failed: see $out/messages" >&2
      failed=$((failed + 1))
    fi
    in_each rmdir "$@"
  done <"$here/plans/LIST"
  repeat=$((repeat + 1))
done
{
  uname -srm
  sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort | uniq -c
  grep MemTotal /proc/meminfo
  echo "host: $(uname -n)"
  df -PT "$data" | tail -n 1
  for word in "$@"; do
    case $word in [!/-]*) echo "${word%%=*}: $(df -PT "$(dirname "/${word#*/}")" | tail -n 1)" ;; esac
  done
  echo "launcher: $launch"
} >"$results/system" 2>/dev/null || true
(cd "$here" && sha256sum CHECKSUMS >results/bundle)
(cd "$here" && while read -r _ file; do
  sha256sum "$file" 2>/dev/null || echo "missing  $file"
done <CHECKSUMS >results/checksums)
tar -C "$here" -czf "$here/results.tar.gz" results
if [ "$failed" -gt 0 ]; then
  echo "$failed of the runs failed; the same command repeats them. $here/results.tar.gz holds what there is" >&2
  exit 1
fi
echo "send back $here/results.tar.gz"
