# SPDX-License-Identifier: BSD-3-Clause
# built.sh - what was built for the tests, in build trees of other configurations; sourced with the
# arguments SOURCE_DIR LIBRARY.  $work is removed at the end.
source=$1
build=$(dirname "$(dirname "$2")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# configured DIRECTORY CMAKE_ARGUMENTS: it builds nothing itself
configured() {
  cmake -G Ninja -S "$source" -B "$1" -DSHMIX_TESTS=OFF -DSHMIX_BENCH=OFF "${@:2}" >"$work/log" 2>&1 ||
    { cat "$work/log"; echo "$1 cannot be configured"; exit 1; }
  mkdir -p "$1/lib" "$1/bin" "$1/libexec" "$1/examples"
  cp -a "$build"/lib/lib*.so* "$build/lib/shmix" "$1/lib"
  cp -a "$build/bin/." "$1/bin"
  cp -a "$build/share" "$1"
  cp -a "$build/libexec/." "$1/libexec"
  cp -a "$build"/examples/example-* "$1/examples"
}
