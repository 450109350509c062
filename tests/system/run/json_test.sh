# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# json_test.sh - what --json prints has the fields and types of docs/json.md, and no others.
. "$(dirname "$0")/lib.sh"

page=$(dirname "$0")/../../../docs/json.md
command -v jq >/dev/null || { echo "skipped: jq is not installed"; exit 77; }

go=$work/go
trap 'touch "$go"; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT
"$SHMIX" run -n 2 --pset pair "$RANK" fence : -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
await "rank 2 has said who it is" grep -q '^late' "$work/job" || finish
await "three clients" sh -c '"$1" ls servers --json "$2" | grep -q "\"clients\":3,"' - "$SHMIX" "$server"
await "an open fence" sh -c '"$1" ls collectives --json "$2" | grep -q "\"arrived\":2,"' - "$SHMIX" "$server"
job=$("$SHMIX" ls jobs --json "$server" | jq -r .nspace)

# The table under heading $1, as JSON.
schema_of() {
    awk -F ' *[|] *' -v heading="$1" '
        /^#/ { sub(/^#+ /, ""); inside = $0 == heading }
        inside && /^[|] [a-z]/ && $2 != "field" { printf "{\"field\":\"%s\",\"type\":\"%s\",\"when\":\"%s\"}\n", $2, $3, $4 }
    ' "$page" | jq -s .
}

# What is wrong with the objects of stdin by table $1, a line each.
judge() {
    jq -r --argjson table "$1" '
        . as $object | ($table | map({ (.field): . }) | add) as $rows |
        ( keys[] | select($rows[.] == null) | "has \"\(.)\", which is not in the table" ),
        ( $table[] | . as $row | if ($object | has($row.field) | not)
            then select($row.when == "") | "has no \"\($row.field)\""
            else select($row.type != "any" and $row.type != ($object[$row.field] | type)) |
                "\"\($row.field)\" is no \($row.type)" end )'
}

# expect_fields HEADING LEAST ARGS...: at least LEAST lines, each of them as the page has it
expect_fields() {
    heading=$1 least=$2
    shift 2
    "$SHMIX" "$@" >"$work/out" 2>"$work/err"
    table=$(schema_of "$heading")
    [ "$table" != "[]" ] || fail "docs/json.md has no table '$heading'"
    [ "$(grep -c '' "$work/out")" -ge "$least" ] || fail "not $least lines: shmix $*"
    wrong=$(judge "$table" <"$work/out" 2>&1 | sort -u)
    [ -z "$wrong" ] || fail "shmix $*: $wrong"
}

expect_fields "shmix ls jobs" 1 ls jobs --json "$server"
expect_fields "shmix ls servers" 1 ls servers --json "$server"
expect_fields "shmix ls procs" 3 ls procs --json "$server"
expect_fields "shmix ls clients" 3 ls clients --json "$server"
expect_fields "shmix ls collectives" 1 ls collectives --json "$server"
expect_fields "shmix ls groups" 1 ls groups --json "$server"
expect_fields "shmix ls groups" 1 ls sets --json "$server"
expect_fields "shmix ls groups" 1 ls sets --json --watch=0.01 --count 1 "$server"
expect_fields "shmix get" 3 get --json 'PMIX_*' "$job"
expect_fields "shmix get" 1 get --json --realm node 'PMIX_*' "$job"
expect_fields "shmix get" 1 get --json --realm app 'PMIX_*' "$job"
expect_fields "shmix query" 1 query --json PMIX_QUERY_PROC_TABLE PMIX_QUERY_NAMESPACES "$job"
expect_fields "shmix query" 5 query --json --list "$job"
expect_fields "shmix events" 1 events --json --since oldest --count 1 "$job"
expect_fields "shmix mem" 3 mem --json --nodes "$server"
expect_fields "shmix ctl" 1 ctl --json pause "$job"
expect_fields "shmix ctl" 1 ctl --json resume "$job"
expect_fields "shmix log" 1 log --json text "$job"
expect_fields "shmix wrap" 1 wrap --json -- podman run image true
if command -v gdb >/dev/null || command -v eu-stack >/dev/null; then
    expect_fields "shmix stack" 1 stack --json "$job"
    expect_fields "shmix stack" 1 stack --json --servers --frames 1 "$job.2"
else
    echo "not tested: shmix stack, for want of gdb or eu-stack"
fi
expect_fields "shmix doctor" 5 doctor --json --kinds
expect_fields "shmix doctor" 0 doctor --json "$job"

# A sample has all four views.
"$SHMIX" top --json --once "$server" >"$work/top" 2>"$work/err"
for view in ranks jobs servers users; do
    jq -c "select(.view == \"$view\")" "$work/top" >"$work/out"
    [ -s "$work/out" ] || fail "no row of $view: shmix top"
    wrong=$(judge "$(schema_of "shmix top: $view")" <"$work/out" | sort -u)
    [ -z "$wrong" ] || fail "shmix top: $view: $wrong"
done

# The judge finds a missing field, an unknown one, and a wrong type.
table=$(schema_of "shmix log")
for object in '{"status":"x"}' '{"status":"x","logged":1,"more":1}' '{"status":"x","logged":"1"}'; do
    [ -n "$(printf '%s\n' "$object" | judge "$table")" ] || fail "taken: $object"
done

touch "$go"
wait "$server"
code=$?
expect_code 0 "the job"
finish
