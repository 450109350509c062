# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# wheels.sh - an MPI and mpi4py as pip gives them, in a virtual environment; sourced, never run.
#
# VENV names the virtual environment, which is made where it is missing and stays.
. "$(dirname "$0")/../../system/run/lib.sh"

: "${VENV:?names the virtual environment}"
limit="--timeout 240"
python=$VENV/bin/python3

skip() {
    echo "skipped: $*"
    exit 77
}
pip() {
    timeout -k 5 300 "$VENV/bin/python3" -m pip --disable-pip-version-check -q --timeout 15 --retries 1 "$@"
}

# wheels_make REQUIREMENT: the MPI
wheels_make() {
    if ! [ -x "$VENV/bin/mpicc" ] || ! "$VENV/bin/python3" -c 'import mpi4py' 2>"$work/err"; then
        rm -rf "$VENV"
        python3 -m venv "$VENV" >"$work/err" 2>&1 || skip "no virtual environment: $(tail -1 "$work/err")"
        pip install "$1" 'mpi4py==4.*' >"$work/err" 2>&1 ||
            skip "pip finds no $1 and mpi4py: $(tail -1 "$work/err")"
    fi
}

# wheels_compile PROGRAM SOURCE: the wrapper was built elsewhere and may have to be told where it stands
wheels_compile() {
    OPAL_PREFIX=$VENV "$VENV/bin/mpicc" -O1 -o "$work/$1" "$2" >"$work/err" 2>&1 ||
        skip "the wheel's mpicc does not compile: $(tail -1 "$work/err")"
}

# mpi4py_tests WHAT COUNT REGEX [ARGS...]: those of its source package in files with such names pass in COUNT
# ranks of $python
mpi4py_tests() {
    what=$1 count=$2 files=$3
    shift 3
    if [ ! -d "$VENV/mpi4py-tests" ]; then
        if ! pip download --no-deps --no-binary mpi4py 'mpi4py==4.*' -d "$work/sdist" >"$work/err" 2>&1; then
            echo "SKIP mpi4py's tests $what: pip finds no source package"
            return 0
        fi
        mkdir "$VENV/mpi4py-tests" && tar -xzf "$work"/sdist/mpi4py*.tar.gz -C "$VENV/mpi4py-tests" --strip-components=1
    fi
    cd "$VENV/mpi4py-tests" || exit 1
    run $limit -n "$count" "$python" test/main.py -f -i "$files" "$@"
    expect_code 0 "mpi4py's tests $what"
    [ "$(grep -c '^OK' "$work/err")" -eq "$count" ] || fail "mpi4py's tests $what: $(grep -h '^FAILED\|^Ran' "$work/err")"
}
plain='^test_(attributes|cart|cco_obj|comm|comm_inter|comm_topo|environ|group|info|p2p_obj|request|session|win)'
