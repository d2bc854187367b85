#!/bin/sh
# Makes the archive for programs that are linked statically, and the linker's options that go with it: our functions
# get the names __wrap_<name>, by which the linker knows them under --wrap.
# usage: make_static.sh SHARED_LIBRARY ARCHIVE_IN ARCHIVE_OUT OPTIONS_OUT
set -eu
names=$(nm -D --defined-only "$1" | awk '$2 ~ /[TW]/ { print $3 }' | grep -vE '^(H5|ncmpi_|PMPI_|_init|_fini)')
defined=$(nm --defined-only "$2" 2>/dev/null | awk '$2 ~ /[TW]/ { print $3 }')
map=$(mktemp)
trap 'rm -f "$map"' EXIT
: >"$4"
for name in $names; do
    echo "$defined" | grep -qx "$name" || continue
    echo "$name __wrap_$name" >>"$map"
    echo "--wrap=$name" >>"$4"
done
objcopy --redefine-syms="$map" "$2" "$3"
