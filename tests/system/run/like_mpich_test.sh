# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# like_mpich_test.sh - what an MPICH that was built with PMIx asks of its library, from its start to its end.
. "$(dirname "$0")/lib.sh"

printf '#!/bin/sh\npwd\nprintf %%s "$PARENT_ROOT_PORT_NAME"\n' >"$work/child"
chmod +x "$work/child"
for count in 1 4; do
    run --timeout 100 -n $count "$LIKEMPICH" "$work/child"
    expect_code 0 "$count ranks"
    [ "$(grep -c "^rank [0-9]* of $count: ok\$" "$work/out")" -eq $count ] || fail "$count ranks"
    grep -qx / "$work/out" || fail "$count ranks: where the child is"
    grep -qx 'the port' "$work/out" || fail "$count ranks: what the child is told"
done
expect_clean "MPICH with PMIx"
finish
