# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# alloc_test.sh - a program that wants nodes: `shmix run` has no scheduler, another host has one.
. "$(dirname "$0")/lib.sh"

run -n 1 "$ALLOC"
expect_code 0 "no scheduler"
expect_out "request: PMIX_ERR_NOT_SUPPORTED
extend: PMIX_ERR_NOT_SUPPORTED
too much: PMIX_ERR_NOT_SUPPORTED
release: PMIX_ERR_NOT_SUPPORTED" "no scheduler"
expect_clean "no scheduler"

"$HOST" 1 "$ALLOC" >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "a scheduler"
expect_out "request: PMIX_SUCCESS
nodes: 2
id: mini.1
nodes: 5
extend: PMIX_SUCCESS
too much: PMIX_ERR_OUT_OF_RESOURCE
release: PMIX_SUCCESS" "a scheduler"

finish
