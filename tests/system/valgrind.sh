# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# valgrind.sh - a host under valgrind works, and says so when it is told to use io_uring there.
# usage: valgrind.sh PROGRAM   (a host that starts its own ranks; valgrind does not follow them)
command -v valgrind >/dev/null || {
    echo "skipped: needs valgrind"
    exit 77
}
unset SHMIX_LOOP
said=$(timeout -s KILL 250 valgrind -q "$1" 2>&1) || {
    echo "FAILED: under valgrind: exit code $?"
    echo "$said" | tail -20
    exit 1
}
said=$(SHMIX_LOOP=uring timeout -s KILL 250 valgrind -q "$1" 2>&1)
echo "$said" | grep -q 'SHMIX_LOOP=uring, but under valgrind' || {
    echo "FAILED: with SHMIX_LOOP=uring it does not say what to do"
    echo "$said" | tail -20
    exit 1
}
echo "all checks passed"
