# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# late_test.sh - what `shmix run` says of a job that hangs until its time is over: the state of each rank, the open collective
# operations, and the stacks.
. "$(dirname "$0")/lib.sh"

mkdir "$work/bin"
printf '#!/bin/sh\nprintf "PID $2 - process\\nTID $2:\\n#0  0x01 of_$2 - /bin/x\\n"\n' >"$work/bin/eu-stack"
chmod +x "$work/bin/eu-stack"

# Rank 0 waits in a fence for rank 1, which has not called PMIx_Init.
cat >"$work/hang" <<END
[ \$PMIX_RANK = 0 ] && exec "$RANK" fence
exec sleep 1000
END
PATH=$work/bin:$PATH run -n 2 --timeout 1 --report-state-on-timeout --get-stack-traces sh "$work/hang"
expect_code 124 "a job that hangs"
expect_err '^shmix run: state: rank 0 (pid [0-9]*): [a-z]*, connected (PMIx_Init)$' "rank 0"
expect_err '^shmix run: state: rank 1 (pid [0-9]*): [a-z]*, has not called PMIx_Init$' "rank 1"
expect_err '^  missing: shmix-[0-9]*-[0-9a-f]*\.1, process [0-9]*, which has not called PMIx_Init$' "who is missing in the fence"
for rank in 0 1; do
    pid=$(sed -n "s/^shmix run: state: rank $rank (pid \([0-9]*\)).*/\1/p" "$work/err")
    expect_err "^rank $rank of shmix-[0-9a-f-]* (process $pid), main thread:\$" "the stack of rank $rank"
    expect_err "^  #0   of_$pid from /bin/x\$" "the stack of rank $rank"
done
expect_err '^shmix run: not ended within 1 s (--timeout); ending the job$' "a job that hangs"
[ -s "$work/out" ] && fail "the report is on stdout"

# Rank 0 has finalized, and rank 1 has ended.
cat >"$work/over" <<END
[ \$PMIX_RANK = 0 ] && "$RANK" pass && exec sleep 1000
exit 0
END
run -n 2 --timeout 1 --report-state-on-timeout sh "$work/over"
expect_code 124 "a job that is nearly over"
expect_err '^shmix run: state: rank 0 (pid [0-9]*): [a-z]*, has called PMIx_Finalize$' "who has finalized"
expect_err '^shmix run: state: rank 1: has ended, with code 0$' "who has ended"

# A rank of MPICH, which has its own words.
cat >"$work/pmi1" <<'END'
printf 'cmd=init pmi_version=1 pmi_subversion=1\n' >&"$PMI_FD"
read -r -u "$PMI_FD" answer
exec sleep 1000
END
if command -v bash >/dev/null; then
    run -n 1 --timeout 1 --report-state-on-timeout bash "$work/pmi1"
    expect_err '^shmix run: state: rank 0 (pid [0-9]*): [a-z]*, connected (PMI_Init)$' "a rank over PMI-1"
else
    echo "not tested: a rank over PMI-1, for want of bash"
fi

# One of them alone; a spawned job has its own limit, and this one is for all.
run -n 2 --timeout 0.5 --report-state-on-timeout sleep 1000
expect_code 124 "the states alone"
expect_err 'state: rank 1 (pid ' "the states alone"
expect_err 'no collective operation has been open .* ranks that hang may wait in MPI, where .shmix stack. shows it' \
    "no collective operation"
grep -q 'main thread' "$work/err" && fail "stacks that nobody wants"
PATH=$work/bin:$PATH run -n 2 --timeout 0.5 --get-stack-traces sleep 1000
expect_err '^rank 1 of shmix-[0-9a-f-]* (process [0-9]*), main thread:$' "the stacks alone"
grep -q 'state:' "$work/err" && fail "states that nobody wants"

# Without a tool it says what to install; without a limit, what to add.
PATH=/nowhere run -n 1 --timeout 0.5 --get-stack-traces "$(command -v sleep)" 1000
expect_code 124 "no tool"
expect_err 'no stack traces: neither eu-stack nor gdb is in PATH; install elfutils' "no tool"
run -n 1 --get-stack-traces true
expect_code 2 "no limit"
expect_err 'add --timeout SECONDS' "no limit"
MPIEXEC_TIMEOUT=100 run -n 1 --get-stack-traces true
expect_code 0 "a limit by the environment"

expect_clean "at the end"
finish
