# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# standard_abi_test.sh - who is no client yet, or no more, is told the versions of the ABI only.
# TQ59
. "$(dirname "$0")/lib.sh"

versions() { # WHEN
    echo "$1: pmix.qry.stabiver: PMIX_SUCCESS, a version"
    echo "$1: pmix.qry.prabiver: PMIX_SUCCESS, a version"
}
refusals() { # WHEN
    for key in pmix.qry.ns pmix.qry.ptable pmix.job.size no.such.key; do
        echo "$1: $key: PMIX_ERR_INIT"
        echo "$1: $key without waiting: PMIX_ERR_INIT"
    done
}

run -n 1 "$ABI"
expect_code 0 "a rank"
expect_out "$(versions before; refusals before; versions between; versions after; refusals after)" \
    "a rank"
expect_clean "at the end"
finish
