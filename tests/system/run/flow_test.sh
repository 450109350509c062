# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# flow_test.sh - eight ranks write 64 MB to somebody who reads none of it at first: the ranks wait,
# the launcher keeps little, and all of it comes, that of each rank in its order.
. "$(dirname "$0")/lib.sh"

each=8388608
held=4194304   # in pipes and in the launcher
grown=16777216 # by the launcher

# flow HOW WHAT OPTIONS...
flow() {
    how=$1 what=$2
    shift 2
    "$FLOW" "$how" "$work/counts" $each 8 $held $grown "$SHMIX" run -n 8 "$@" \
        "$FLOW" rank "$work/counts" $each >"$work/out" 2>"$work/err" || fail "$what"
}
flow pipe "through a pipe"
flow pty "through a terminal"
flow pipe "with a copy in a file" --output "file=$work/copy,pattern"
[ "$(wc -c <"$work/copy.stdout")" -eq $((8 * each)) ] || fail "the copy: $(wc -c <"$work/copy.stdout") bytes"

# The same by way of a rank that pulls it from the others; only it has their output, and it is its
# own reader who is slow.  It takes pieces: those of a pipe are whole lines here.
"$FLOW" pipe "$work/counts" $each 8 $held $grown "$SHMIX" run --no-pty -n 8 "$FLOW" rank "$work/counts" $each "$work/go" : \
    -n 1 "$PULLER" -n 8 -e 8 -o - -g "$work/go" pmix.iof.redir >"$work/out" 2>"$work/err" || fail "through a pull"

expect_clean "at the end"
finish
