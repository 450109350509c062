# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# place_test.sh - where ranks are mapped and bound, and what --display says of it.
. "$(dirname "$0")/lib.sh"

# The kernel's word on a rank's CPUs is what --display said of it.
for policy in "--bind-to core" "--map-by core" "--map-by numa" "--map-by hwthread --bind-to core" \
    "--map-by slot" "--map-by node --bind-to hwthread" "--map-by core --bind-to none"; do
    # shellcheck disable=SC2086 # the words of a policy
    run -n 1 $policy --display map,bindings sh -c 'echo $$; grep Cpus_allowed_list /proc/self/status'
    expect_code 0 "$policy"
    pid=$(sed -n 1p "$work/out")
    cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$work/out")
    expect_err "shmix run: map: rank 0, app 0 (sh), .* CPUs $cpus\$" "$policy"
    expect_err "shmix run: bindings: rank 0, app 0 (sh), pid $pid, .* CPUs $cpus\$" "$policy"
done

# A launcher that was bound itself gives away what it has, by the machine's numbers.
last=$(sed -n 's/^Cpus_allowed_list:.*[^0-9]//p' /proc/self/status)
for policy in slot core; do
    taskset -c "$last" "$SHMIX" run --map-by $policy --display map grep Cpus_allowed_list \
        /proc/self/status >"$work/out" 2>"$work/err"
    [ "$(sed 's/.*[^0-9]//' "$work/out")" = "$last" ] || fail "taskset and --map-by $policy"
    expect_err "CPUs $last\$" "taskset and --map-by $policy"
done
taskset -c "$last" "$SHMIX" run -n 2 --map-by core true 2>"$work/err"
code=$?
expect_code 1 "taskset leaves one core"
expect_err "2 ranks want a core each, and this machine has 1" "taskset leaves one core"

run -n 2 --display bindings true : -n 1 sleep 0
expect_code 0 "--display of two applications"
[ "$(grep -c 'bindings: rank [01], app 0 (true), pid [0-9]*, not bound' "$work/err")" -eq 2 ] ||
    fail "--display of the first application"
expect_err 'bindings: rank 2, app 1 (sleep), pid' "--display of the second application"

HWLOC_SYNTHETIC="pack:2 core:2 pu:1" run -n 5 --map-by package --bind-to core true
expect_code 1 "too few cores in a package"
expect_err "rank 4 wants a core of its own on package 0, which has 2" "too few cores in a package"
HWLOC_SYNTHETIC="pack:2 core:2 pu:1" run -n 5 --map-by core true
expect_code 1 "too few cores"
expect_err "5 ranks want a core each, and this machine has 4" "too few cores"

expect_clean "at the end"
finish
