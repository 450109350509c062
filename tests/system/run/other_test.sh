# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# other_test.sh - a process reads the job of another server by its name, as long as that lives.
. "$(dirname "$0")/lib.sh"

"$SHMIX" run -n 3 "$RANK" offer >"$work/offer" 2>&1 &
job=$!
trap 'kill "$job" 2>/dev/null; wait; rm -rf "$work"' EXIT
await "the other job has offered" lines_are "$work/offer" 1 || { cat "$work/offer"; finish; }
nspace=$(cat "$work/offer")

run "$RANK" peek "$nspace"
expect_code 0 "another job"
expect_out "0 0
1 10
2 20" "what it has offered"

kill "$job"
wait "$job"
run "$RANK" peek "$nspace"
expect_code 1 "a job that has ended"
expect_out "rank 0: shmix_job_open: PMIX_ERR_NOT_FOUND" "a job that has ended"
expect_clean "both jobs"

finish
