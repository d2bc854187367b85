#!/bin/sh
# Makes the archives for programs that the capture library is linked into, and the linker options for them. Our
# functions are renamed to __wrap_<name>, which the linker expects with --wrap.
# NM and OBJCOPY in the environment name those of another machine.
# usage: make_static.sh SHARED_LIBRARY WHOLE_IN LIBRARIES_IN WHOLE_OUT LIBRARIES_OUT OPTIONS_OUT
set -eu
globals() {
    ${NM:-nm} --defined-only "$@" 2>/dev/null | awk '$2 ~ /[TW]/ { print $3 }' | sort -u
}
names=$(mktemp)
defined=$(mktemp)
trap 'rm -f "$names" "$defined"' EXIT
globals "$2" "$3" >"$defined"
# The functions that the shared library replaces; MPI's Fortran bindings are in the archive only.
{
    globals -D "$1" | grep -vE '^(PMPI_|_init|_fini|workalike_)'
    grep -E '^mpi_.*_$' "$defined"
} | sort -u | comm -12 - "$defined" | awk '{ print $1, "__wrap_" $1 }' >"$names.map"
${OBJCOPY:-objcopy} --redefine-syms="$names.map" "$2" "$4"
${OBJCOPY:-objcopy} --redefine-syms="$names.map" "$3" "$5"
awk '{ print "--wrap=" $1 }' "$names.map" >"$6"
rm -f "$names.map"
