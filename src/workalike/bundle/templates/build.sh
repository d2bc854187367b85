#!/bin/sh
# Builds the engine. Options for CMake may follow, such as -DCMAKE_CXX_COMPILER=g++-12 or -DHDF5_ROOT=/opt/hdf5.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cmake -S "$here" -B "$here/build" "$@"
cmake --build "$here/build" --parallel "$(getconf _NPROCESSORS_ONLN)" --target workalike-engine
echo "built: $here/build/workalike-engine; next: ./run.sh DIR"
