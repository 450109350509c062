# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# pmi1_names_test.sh - names that one job publishes over PMI-1 and another one with PMIx: one table for both.
here=$(dirname "$0")
. "$here/lib.sh"

command -v bash >"$work/out" || { echo "skipped: needs bash"; exit 77; }
cat >"$work/rank.bash" <<'BASH'
ask() { printf '%s\n' "$1" >&"$PMI_FD"; IFS= read -r -u "$PMI_FD" answer; }
want() { ask "$1"; [[ $answer == $2 ]] || { echo "$1: $answer, not $2"; exit 9; }; }
await() { # bounded by the run's --timeout
    until ask "cmd=lookup_name service=$1"; [[ $answer != *service_not_found ]]; do sleep 0.01; done
    echo "$1: $answer"
}
want 'cmd=init pmi_version=1 pmi_subversion=1' 'cmd=response_to_init rc=0 *'
want 'cmd=publish_name service=from-pmi1 port=tag#1$here$' 'cmd=publish_result rc=0'
await from-pmix
want 'cmd=unpublish_name service=from-pmix' 'cmd=unpublish_result rc=1 msg=service_of_another_rank'
want 'cmd=publish_name service=from-pmix port=x' 'cmd=publish_result rc=1 msg=service_exists'
want 'cmd=lookup_name service=several' 'cmd=lookup_result rc=1 msg=service_not_found'
want 'cmd=unpublish_name service=from-pmi1' 'cmd=unpublish_result rc=0'
want 'cmd=publish_name service=over port=yes' 'cmd=publish_result rc=0'
await last # as long as its publisher lives
want 'cmd=lookup_name service=from-pmix' 'cmd=lookup_result rc=1 msg=service_not_found'
want 'cmd=publish_name service=bye port=x' 'cmd=publish_result rc=0'
want 'cmd=finalize' 'cmd=finalize_ack rc=0'
BASH
run --timeout 100 --separate-jobs -n 1 bash "$work/rank.bash" : -n 1 "$NAMES" wait from-pmi1 \
    publish several 'a value of words' publish from-pmix 'hello' wait over publish from-pmi1 mine unpublish from-pmi1 \
    lookup from-pmi1 unpublish from-pmix publish last one wait bye
expect_code 0 "names of both"
for line in 'from-pmix: cmd=lookup_result rc=0 port=hello' 'last: cmd=lookup_result rc=0 port=one' \
    'wait from-pmi1: [A-Z_-]*SUCCESS tag#1.here. of rank 0' 'wait over: [A-Z_-]*SUCCESS yes of rank 0' \
    'publish from-pmi1: [A-Z_-]*SUCCESS ' 'lookup from-pmi1: [A-Z_-]*NOT[_-]FOUND '; do
    grep -qx "$line" "$work/out" || fail "names of both: no line '$line'"
done
expect_clean "names"
finish
