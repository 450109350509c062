# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# mixed_test.sh - server and rank have different PMIx libraries: it ends soon, and each side that is
# ours names both and what to set.
. "$(dirname "$0")/lib.sh"

# A server of OpenPMIx, as a rank of ours sees it.
lonely() {
    (
        unset SHMIX_SERVER_URI SHMIX_SERVER_FD
        export PMIX_NAMESPACE=their.job PMIX_RANK=3 PMIX_VERSION=9.8.7
        "$@" "$RANK" fence >"$work/out" 2>"$work/err"
    )
}
lonely env PMIX_SERVER_URI41="their.0;tcp4://127.0.0.1:1"
expect_err "OpenPMIx 9.8.7" "a server of OpenPMIx: its name"
expect_err "shmix [0-9.]* .* from /" "a server of OpenPMIx: our name"
expect_err "LD_LIBRARY_PATH" "a server of OpenPMIx: what to set"
lonely env PMIX_SERVER_URI61="their.0;tcp4://127.0.0.1:1"
expect_err "OpenPMIx 9.8.7" "a server of a later OpenPMIx: its name"
lonely env PMIX_SERVER_URI41= # nobody's
grep -q OpenPMIx "$work/err" && fail "a server is named that is not there"

export PMIX_NAMESPACE=prterun-4711@1
(
    unset SHMIX_SERVER_URI SHMIX_SERVER_FD
    PMIX_RANK=3 PMIX_SERVER_URI41="their.0;tcp4://127.0.0.1:1" "$RANK" fence >"$work/out" 2>"$work/err"
)
expect_err "use shmix run (this launcher" "a server of PRRTE: what to do"
grep -q "start the launcher" "$work/err" && fail "a server of PRRTE: what ends with a symbol error"
unset PMIX_NAMESPACE

# A host of ours that does not use PMIx_server_setup_fork, or what it returns.
timeout 60 "$HOST" 1 env -u PMIX_NAMESPACE -u PMIX_RANK "$RANK" fence >"$work/out" 2>"$work/err"
expect_err "process [0-9]*, which started it, has a PMIx server.* PMIx_server_setup_fork" "nothing is set"
timeout 60 "$HOST" 1 env -u SHMIX_SERVER_URI -u SHMIX_SERVER_FD "$RANK" fence >"$work/out" 2>"$work/err"
expect_err "rank 0 of minihost\.[0-9]* is on its own: .*SHMIX_SERVER_URI" "no server is named"
env -u PMIX_NAMESPACE -u PMIX_RANK "$RANK" fence >"$work/out" 2>"$work/err"
grep -q "on its own" "$work/err" && fail "a program that nobody has launched"

# A container that drops the environment: nobody connects, and the job is told so once.
printf '%s\n' '#!/bin/sh' 'exec env -i "$@"' >"$work/podman"
chmod +x "$work/podman"
run -n 3 "$work/podman" true
expect_code 0 "a container without the environment"
[ "$(grep -c 'none of the 3 ranks of the job has connected' "$work/err")" -eq 1 ] ||
    fail "a container without the environment: told once"
cp "$work/podman" "$work/other"
run -n 3 "$work/other" true
grep -q 'has connected' "$work/err" && fail "a program that is no container"
# So does env, and its program is one of this library.
printf '%s\n' '#!/bin/sh' 'exit 3' >"$work/three"
chmod +x "$work/three"
for row in "0 true" "3 sh $work/three"; do
    run -n 3 env -i sh -c "${row#* }" "$RANK"
    expect_code "${row% "${row#* }"}" "env without the environment, $row"
    [ "$(grep -c "none of the 3 ranks of the job has connected, and '$RANK' uses libpmix: if 'env'" "$work/err")" -eq 1 ] ||
        fail "env without the environment, $row: told once"
done
run -n 2 env -i sh -c 'kill -9 $$' "$RANK"
grep -q 'has connected' "$work/err" && fail "env, and the ranks are killed"
run -n 2 env "$RANK" fence
grep -q 'has connected' "$work/err" && fail "env with the environment"
run -n 2 sh -c true "$work/three"
grep -q 'has connected' "$work/err" && fail "env of another program"
# A rank that is a host has had its environment: its ranks are its own.
run -n 2 "$HOST" 1 "$RANK" fence
expect_code 0 "a host as a rank"
grep -q 'has connected' "$work/err" && fail "a host as a rank"
sed -i 's/ -i//' "$work/podman"
run -n 2 "$work/podman" "$RANK" fence
expect_clean "a container with the environment"

if ! theirs_find; then
    finish || exit 1
    exit 77
fi
theirs=${theirs%/*}

# The real ones.  A program that takes their library all the same, under a server of ours:
LD_LIBRARY_PATH=$theirs run -n 2 sh -c 'LD_LIBRARY_PATH='"$theirs"' exec "$0" fence' "$RANK"
expect_err "has loaded another PMIx library, OpenPMIx [0-9]" "a rank of OpenPMIx: its name"
expect_code 0 "ranks of OpenPMIx are a job"
expect_err "it is served by a gateway" "a rank of OpenPMIx: how"
expect_err "env LD_PRELOAD=/.*/libpmix.so.2" "a rank of OpenPMIx: what to set"
expect_err "In a container .* at the same path" "a rank of OpenPMIx: what to mount"
[ "$(grep -c 'another PMIx library' "$work/err")" = 1 ] || fail "two ranks of OpenPMIx: told once"
LD_LIBRARY_PATH=$theirs run --quiet -n 2 sh -c 'LD_LIBRARY_PATH='"$theirs"' exec "$0" fence' "$RANK"
expect_code 0 "ranks of OpenPMIx, quiet"
[ -s "$work/err" ] && fail "ranks of OpenPMIx, quiet: told"
expect_clean "ranks of OpenPMIx, quiet"
run --separate-jobs true : sh -c 'LD_LIBRARY_PATH='"$theirs"' exec "$0" fence' "$RANK"
expect_err "job 1, rank 0 has loaded another PMIx library" "a rank of OpenPMIx in the second job"
run -n 2 --env LD_PRELOAD="$LIBRARY" sh -c 'LD_LIBRARY_PATH='"$theirs"' exec "$0" fence' "$RANK"
expect_code 0 "and with what it says they are two ranks"
expect_clean "after what is ours"

# ... and a server of theirs, whose ranks have our library.
LD_LIBRARY_PATH=$theirs timeout 60 "$HOST" 1 env LD_LIBRARY_PATH="${LIBRARY%/*}" "$RANK" fence \
    >"$work/out" 2>"$work/err"
expect_err "the server of its job is of another library, OpenPMIx [0-9]" "a host with OpenPMIx"
expect_err "directory of the launcher's own library first in LD_LIBRARY_PATH" "a host with OpenPMIx: what to set"
LD_LIBRARY_PATH=$theirs timeout 60 "$HOST" 2 env LD_LIBRARY_PATH="$theirs" "$RANK" fence >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "and with what it says they are a job"
finish
