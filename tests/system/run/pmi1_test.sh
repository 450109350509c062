# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# pmi1_test.sh - ranks that speak PMI-1 over PMI_FD, word for word, and one that speaks something else.
here=$(dirname "$0")
. "$here/lib.sh"

command -v bash >"$work/out" || { echo "skipped: needs bash"; exit 77; }
# ask LINE: the answer, in full
cat >"$work/lib.bash" <<'BASH'
ask() { printf '%s\n' "$1" >&"$PMI_FD"; IFS= read -r -u "$PMI_FD" answer; }
want() { ask "$1"; [[ $answer == $2 ]] || { echo "$1: $answer, not $2"; exit 9; }; }
BASH
rank() { # rank N ARGS...: the lines on stdin, in N ranks
    { cat "$work/lib.bash"; cat; } >"$work/rank.bash"
    ranks=$1
    shift
    run -n "$ranks" --timeout 60 "$@" bash "$work/rank.bash"
}

rank 4 <<'BASH'
want 'cmd=get_maxes' 'cmd=maxes rc=1 *'
want 'cmd=init pmi_version=2 pmi_subversion=0' 'cmd=response_to_init rc=1 *'
want 'cmd=init pmi_version=1 pmi_subversion=1' 'cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1'
want 'cmd=get_maxes' 'cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024'
want 'cmd=get_appnum' 'cmd=appnum rc=0 appnum=0'
want 'cmd=get_universe_size' 'cmd=universe_size rc=0 size=4'
want 'cmd=get_my_kvsname' 'cmd=my_kvsname rc=0 kvsname=?*'
name=${answer##*=}
[[ $PMI_SIZE == 4 && $PMI_RANK == "$OMPI_COMM_WORLD_RANK" ]] || exit 8
want "cmd=get kvsname=$name key=PMI_process_mapping" 'cmd=get_result rc=0 value=(vector,(0,1,4))'
want "cmd=get kvsname=$name key=PMI_dead_processes" 'cmd=get_result rc=1 msg=key_not_found'
want "cmd=get kvsname=$name key=PMI_hwloc_xmlfile" 'cmd=get_result rc=0 value=/?*'
grep -q '<topology version="2' "${answer#*value=}" || exit 7
want "cmd=put kvsname=$name key=PMI_mine value=1" 'cmd=put_result rc=1 msg=reserved_key'
want "cmd=put kvsname=$name.other key=k value=1" 'cmd=put_result rc=1 msg=another_job'
want "cmd=put kvsname=$name key=k" 'cmd=put_result rc=1 msg=a_word_is_missing'
want "cmd=put kvsname=$name key=$(printf %064d 0) value=1" 'cmd=put_result rc=1 msg=a_word_is_too_long'
want "cmd=put kvsname=$name key=k value=$(printf %01024d 0)" 'cmd=put_result rc=1 msg=a_word_is_too_long'
want "cmd=put kvsname=$name key=k$PMI_RANK value=v$PMI_RANK" 'cmd=put_result rc=0'
want 'cmd=barrier_in' 'cmd=barrier_out rc=0'
for i in 0 1 2 3; do
    want "cmd=get kvsname=$name key=k$i" "cmd=get_result rc=0 value=v$i"
done
want "cmd=get kvsname=$name key=absent" 'cmd=get_result rc=1 msg=key_not_found'
want "cmd=publish_name service=s$PMI_RANK port=p$PMI_RANK" 'cmd=publish_result rc=0'
want "cmd=publish_name service=s$PMI_RANK port=p" 'cmd=publish_result rc=1 *'
want 'cmd=barrier_in' 'cmd=barrier_out rc=0'
want 'cmd=lookup_name service=s2' 'cmd=lookup_result rc=0 port=p2'
want 'cmd=lookup_name service=none' 'cmd=lookup_result rc=1 msg=service_not_found'
want 'cmd=publish_name service=pmix.range port=p' 'cmd=publish_result rc=1 msg=reserved_name'
want "cmd=publish_name service=s2 port=p" 'cmd=publish_result rc=1 msg=service_exists'
[[ $PMI_RANK == 1 ]] && want 'cmd=unpublish_name service=s2' 'cmd=unpublish_result rc=1 msg=service_of_another_rank'
want 'cmd=barrier_in' 'cmd=barrier_out rc=0'
want "cmd=unpublish_name service=s$PMI_RANK" 'cmd=unpublish_result rc=0'
want "cmd=unpublish_name service=s$PMI_RANK" 'cmd=unpublish_result rc=1 *'
want 'cmd=spawn nprocs=1' 'cmd=spawn_result rc=1 msg=an_mcmd_is_wanted'
want $'mcmd=other\nkey=a value\nendcmd' 'cmd=other_result rc=1 msg=unknown_command'
want 'cmd=whatever' 'cmd=whatever_result rc=1 msg=unknown_command'
want 'cmd=finalize' 'cmd=finalize_ack rc=0'
want 'cmd=init pmi_version=1 pmi_subversion=1' 'cmd=response_to_init rc=0 *'
want 'cmd=finalize' 'cmd=finalize_ack rc=0'
echo done
BASH
expect_code 0 "every command"
[ "$(grep -c '^done$' "$work/out")" -eq 4 ] || fail "every command"

init="want 'cmd=init pmi_version=1 pmi_subversion=1' 'cmd=response_to_init rc=0 *'"
rank 2 <<BASH
$init
[ \$PMI_RANK = 1 ] || { printf 'cmd=abort exitcode=5 message=it is over\n' >&\$PMI_FD; exit 5; }
sleep 60
BASH
expect_code 5 "an abort"
expect_err 'rank 0 .* called abort with status 5: it is over' "an abort"

# A shell has eight bits of it; a text that is none, as Open MPI has it, is left out.
rank 2 <<BASH
$init
[ \$PMI_RANK = 1 ] || { printf 'cmd=abort exitcode=300 message=N/A\n' >&\$PMI_FD; exit 44; }
sleep 60
BASH
expect_code 44 "an abort with a large status"
expect_err 'called abort with status 300 (the shell sees 44); ending' "an abort with a large status"

# As MPICH has it: an error stack, a line each; and one that does not end.
rank 2 <<BASH
$init
[ \$PMI_RANK = 1 ] || { printf 'cmd=abort exitcode=6 message=%s\n' 'Fatal error:
internal_Send(123): no
such thing' >&\$PMI_FD; exit 6; }
sleep 60
BASH
expect_code 6 "an abort of several lines"
expect_err 'called abort with status 6: Fatal error:; ' "an abort of several lines"
grep -q 'PMI_FD' "$work/err" && fail "an abort of several lines is no garbage"
rank 2 <<BASH
$init
[ \$PMI_RANK = 1 ] || { { printf 'cmd=abort exitcode=7 message=%s'; head -c 9000 /dev/zero | tr '\0' x; echo; } >&\$PMI_FD; exit 7; }
sleep 60
BASH
expect_code 7 "an abort with a long message"
expect_err 'called abort with status 7: .*xxxxxx' "an abort with a long message"
grep -q 'PMI_FD' "$work/err" && fail "an abort with a long message is no garbage"

rank 2 <<BASH
$init
[ \$PMI_RANK = 1 ] || exit 0
sleep 60
BASH
expect_code 1 "an exit without finalize"
expect_err 'rank 0 .* exited without PMIx_Finalize' "an exit without finalize"

# A rank that dies while the others are in a barrier ends it, and their next one.
rank 3 --on-failure notify <<BASH
$init
if [ \$PMI_RANK = 0 ]; then kill -9 \$\$; fi
want cmd=barrier_in 'cmd=barrier_out rc=1 msg=a_rank_has_ended'
want cmd=barrier_in 'cmd=barrier_out rc=1 msg=a_rank_has_ended'
want cmd=get_my_kvsname 'cmd=my_kvsname rc=0 *'
want "cmd=get kvsname=\${answer##*=} key=PMI_dead_processes" 'cmd=get_result rc=0 value=0'
want cmd=finalize 'cmd=finalize_ack rc=0'
BASH
expect_code 137 "a death in a barrier"
expect_err 'goes on without it' "a death in a barrier"
[ -s "$work/out" ] && fail "a death in a barrier"

# One that writes garbage loses the connection; one that floods is not read; the others go on.
rank 3 <<'BASH'
case $PMI_RANK in
0) head -c 100000 /dev/zero >&"$PMI_FD" 2>/dev/null; exit 0 ;;
1) head -c 100000 /dev/zero | tr '\0' x >&"$PMI_FD" 2>/dev/null; exit 0 ;;
2) want 'cmd=init pmi_version=1 pmi_subversion=1' 'cmd=response_to_init rc=0 *'
   want cmd=finalize 'cmd=finalize_ack rc=0'; echo well ;;
esac
BASH
expect_code 0 "garbage"
expect_out well "garbage"
expect_err 'rank 0 has written to PMI_FD what is no PMI-1' "garbage"
expect_err 'rank 1 has written to PMI_FD a line of more than 4096 bytes' "a line without an end"
rank 1 <<'BASH'
yes cmd=get_maxes 2>/dev/null | head -c 2000000 >&"$PMI_FD" 2>/dev/null
exit 0
BASH
expect_code 0 "a flood"

expect_clean "PMI-1"
finish
