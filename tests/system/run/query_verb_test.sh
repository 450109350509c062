# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# query_verb_test.sh - `shmix query`: questions to a server as its tool, in a pty and as JSON; what is said
# when some keys or all have no answer, and when there is no server.
. "$(dirname "$0")/lib.sh"

go=$work/go
uri=$work/uri
server=
trap 'touch "$go"; [ -z "$server" ] || kill -CONT "$server" 2>/dev/null; [ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

expect_query() { # CODE PATTERN ARGS...: in what it prints, or says
    want=$1 pattern=$2
    shift 2
    "$SHMIX" query "$@" >"$work/out" 2>"$work/err"
    code=$?
    expect_code "$want" "shmix query $*"
    grep -q -e "$pattern" "$work/out" "$work/err" || fail "no '$pattern' in: shmix query $*"
}

# Without a server.
expect_query 0 '^PMIX_QUERY_STABLE_ABI_VERSION "' PMIX_QUERY_STABLE_ABI_VERSION
expect_query 1 "the system server: '$TMPDIR/pmix.sys.[^']*' is not there; servers of sessions in '$TMPDIR': none" PMIX_QUERY_NAMESPACES
expect_query 1 "'shmix ls servers' lists those that run" PMIX_QUERY_NAMESPACES

"$SHMIX" run --pset ocean$$ --report-uri "$uri" -n 2 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
await "both ranks have said who they are" lines_are "$work/job" 2 || finish
job=$("$SHMIX" ls procs --json "$server" | sed -n 's/^{"rank":0,.*"nspace":"\([^"]*\)"}$/\1/p')

# The ways to a server.
for way in "" "--pid $server" "--uri file:$uri" "--server $job.server"; do
    # shellcheck disable=SC2086 # two words, or none
    expect_query 0 "^PMIX_QUERY_NAMESPACES \"$job\"\$" pmix.qry.ns $way
done
expect_query 0 "^PMIX_QUERY_NAMESPACES \"$job\"\$" --uri "$(head -1 "$uri")" PMIX_QUERY_NAMESPACES
expect_query 0 '"PMIX_WDIR,.*,PMIX_DISPLAY_MAP,.*"' --pid $server PMIX_QUERY_SPAWN_SUPPORT
expect_query 0 '"\(PMIX_DEBUG[A-Z_]*,*\)*"$' --pid $server PMIX_QUERY_DEBUG_SUPPORT
grep -q 'PMIX_DEBUG_TARGET' "$work/out" || fail "what a debugger may say"
expect_query 1 "the system server: " --system PMIX_QUERY_NAMESPACES
expect_query 1 "no server of process '$$': looked for .*tool\\.$$' in '$TMPDIR'" --pid $$ PMIX_QUERY_NAMESPACES
expect_query 1 "there is no such process" --pid 2147483647 PMIX_QUERY_NAMESPACES
expect_query 1 "no server of namespace 'nobody'" --server nobody PMIX_QUERY_NAMESPACES
expect_query 1 "'/etc/passwd' is no contact file of a server" --uri file:/etc/passwd PMIX_QUERY_NAMESPACES
expect_query 1 "it is not a server of this library" --uri 'prte.0;tcp4://127.0.0.1:1' PMIX_QUERY_NAMESPACES

# Qualifiers, and JSON.
expect_query 0 "^PMIX_QUERY_PSET_MEMBERSHIP PMIX_PROC\\[2\\]{$job:0, $job:1}\$" PMIX_QUERY_PSET_MEMBERSHIP --qualifier PMIX_PSET_NAME=ocean$$
expect_query 0 '^{"key":"pmix.qry.ns","name":"PMIX_QUERY_NAMESPACES","type":"PMIX_STRING","value":"'"$job"'"}$' --json PMIX_QUERY_NAMESPACES
expect_query 0 '"value":\[{"proc":{"nspace":"'"$job"'","rank":0},"hostname":"[^"]*","executable":"[^"]*","state":"PMIX_PROC_STATE_CONNECTED","pid":[0-9]*,"exit_code":0},{' --json PMIX_QUERY_PROC_TABLE --nspace "$job"
expect_query 0 '^PMIX_QUERY_PROC_TABLE$' --list
expect_query 0 '^{"key":"pmix.qry.ptable","name":"PMIX_QUERY_PROC_TABLE"}$' --list --json

# This node: what is used, what there is, and what is mounted.
where=$(df --output=target "$work" | tail -1)
expect_query 0 '^PMIX_QUERY_NODE_RESOURCE_USAGE PMIX_INFO\[1\]{pmix.node.res=.*pmix.node.mtot=' PMIX_QUERY_NODE_RESOURCE_USAGE
expect_query 0 '^PMIX_QUERY_NODE_RESOURCE_USAGE' PMIX_QUERY_NODE_RESOURCE_USAGE --qualifier PMIX_HOSTNAME="$(hostname)"
expect_query 1 'no answer' PMIX_QUERY_NODE_RESOURCE_USAGE --qualifier PMIX_HOSTNAME=elsewhere
expect_query 0 "^PMIX_QUERY_PROC_RESOURCE_USAGE PMIX_INFO\[1\]{.*pmix.procid=$job:1,.*pmix.proc.rss=" PMIX_QUERY_PROC_RESOURCE_USAGE --nspace "$job" --rank 1
expect_query 0 '^PMIX_QUERY_PROC_RESOURCE_USAGE PMIX_INFO\[2\]{' PMIX_QUERY_PROC_RESOURCE_USAGE --nspace "$job"
expect_query 1 'no answer' PMIX_QUERY_PROC_RESOURCE_USAGE --nspace "$job" --rank 7
expect_query 1 'no answer' PMIX_QUERY_DEVICES --qualifier PMIX_DEVICE_ID='no such device'
if grep -q "^[^ ]* $where " /proc/self/mounts; then # in a chroot its file system may not be there
  expect_query 0 "^PMIX_QUERY_STORAGE_LIST \"\(.*,\)*$where[,\"]" PMIX_QUERY_STORAGE_LIST
  expect_query 0 "^PMIX_STORAGE_ID \"$where\"\$" PMIX_STORAGE_ID --qualifier PMIX_STORAGE_PATH="$work/.."
  expect_query 0 "^PMIX_STORAGE_TYPE \"$(awk -v at="$where" '$2 == at { type = $3 } END { print type }' /proc/self/mounts)\"\$" PMIX_STORAGE_TYPE --qualifier PMIX_STORAGE_ID="$where"
  expect_query 3 'no answer to PMIX_STORAGE_BW_MAX' PMIX_STORAGE_CAPACITY_LIMIT PMIX_STORAGE_CAPACITY_USED PMIX_STORAGE_MEDIUM PMIX_STORAGE_ACCESS_TYPE PMIX_STORAGE_MINIMAL_XFER_SIZE PMIX_STORAGE_SUGGESTED_XFER_SIZE PMIX_STORAGE_BW_MAX --qualifier PMIX_STORAGE_PATH="$work"
  [ "$(wc -l <"$work/out")" = 6 ] || fail "not all is said of a file system"
fi
expect_query 1 'no answer' PMIX_STORAGE_TYPE --qualifier PMIX_STORAGE_ID=/nowhere
expect_query 1 'no answer' PMIX_STORAGE_TYPE PMIX_STORAGE_PATH

# Some have an answer, and none.
expect_query 3 'no answer to my.key' PMIX_QUERY_NAMESPACES my.key
grep -q "^PMIX_QUERY_NAMESPACES \"$job\"\$" "$work/out" || fail "what has an answer is printed"
expect_query 1 'no answer to my.key' my.key --json
[ -s "$work/out" ] && fail "nothing is printed"

# Garbage.
expect_query 2 'a KEY is missing' --json
expect_query 2 "'PMIX_NONSENSE' is no key" PMIX_NONSENSE
expect_query 2 'give no other' --list PMIX_QUERY_NAMESPACES
expect_query 2 'name a server each' --pid "$server" --system PMIX_QUERY_NAMESPACES
expect_query 2 "--rank does not take 'x'" --rank x my.key
expect_query 2 "--pid does not take '0'" --pid 0 my.key
expect_query 2 "--qualifier does not take 'PMIX_RANK'" --qualifier PMIX_RANK my.key
expect_query 2 "unknown option '--uril'; did you mean '--uri'" --uril my.key

if command -v script >/dev/null; then
    script -qec "'$SHMIX' query PMIX_QUERY_NAMESPACES PMIX_QUERY_PSET_NAMES" /dev/null </dev/null \
        >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "on a terminal"
    grep -q '^PMIX_QUERY_PSET_NAMES "ocean'$$'".\{0,1\}$' "$work/out" || fail "the answer on a terminal"
fi

# Another user's server, and one that is stopped.
nobody() {
    setpriv --reuid 65534 --clear-groups "$SHMIX" "$@"
}
if [ "$(id -u)" = 0 ] && nobody --version >/dev/null 2>&1; then
    nobody query --pid "$server" PMIX_QUERY_NAMESPACES >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "of another user"
    expect_err "it is another user's process: be its user, or root; it belongs to user .*(uid 0), and you are user .*(uid [1-9]" "of another user"
fi
kill -STOP "$server"
await "the server is stopped" is_stopped "$server"
expect_query 1 'has not let this command in: PMIX_ERR_TIMEOUT' --timeout 1 --pid "$server" PMIX_QUERY_NAMESPACES
expect_err "server $server is stopped and answers nobody: 'kill -CONT $server'" "a stopped server"
kill -CONT "$server"
touch "$go"
wait "$server"
code=$?
server=
expect_code 0 "the job"
finish
