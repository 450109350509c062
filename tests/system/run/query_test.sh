# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# query_test.sh - what ranks of `shmix run` are told of their job and of the node.  TQ64 TQ65 TQ79 TQ82
. "$(dirname "$0")/lib.sh"

# The others have ended while rank 0 asks: as they should, with a code, by a signal, without
# PMIx_Finalize, by an abort of their own, by an abort of another rank.
run --oversubscribe --on-failure notify -n 1 "$RANK" table TERMINATED:0 TERM_NON_ZERO:3 \
    ABORTED_BY_SIG:137 TERM_WO_SYNC:0 CALLED_ABORT:143 KILLED_BY_CMD:143 : \
    -n 1 "$RANK" pass : -n 1 sh -c '"$0" pass; exit 3' "$RANK" : -n 1 "$RANK" kill : \
    -n 1 "$RANK" end leave : -n 1 "$RANK" end abort : -n 1 sleep 600
expect_out "as they ended" "the table of processes"

# A rank is told of its own server and of another one, which is the node's.
go=$work/go
"$SHMIX" run --system-server -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
other=$!
await "the other job has said who it is" grep -q '^late' "$work/job"
run -n 1 "$RANK" servers
expect_code 0 "a rank asks for servers"
grep -qx "$other system" "$work/out" || fail "the system server is not listed"
[ "$(grep -cv system "$work/out")" = 1 ] || fail "not the own server and the other one"
touch "$go"
wait "$other"

expect_clean "at the end"
finish
