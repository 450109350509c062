#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
"""Call the helpers of the headers with our library and with another one, and compare the lines.

  check_helpers.py --cc CC --source helpers.c --differ helpers_differ.tsv --work DIR
                   --include OURS --lib FILE --other-include THEIRS --other-lib FILE

A line is "call: result".  Each call whose results differ is a row of the table, with the reason;
each row of the table differs.

Return: 0 so it is, 1 it is not (one line each), 77 the other library is not here.
"""
import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
import check  # noqa: E402


def build(args, name, include, lib):
    program = os.path.join(args.work, name)
    folder = os.path.dirname(os.path.abspath(lib))
    subprocess.run([args.cc, "-w", "-o", program, args.source, "-I", include, lib,
                    "-Wl,-rpath," + folder], check=True)
    return program, folder


def lines(program, folder, work):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("PMIX_", "SHMIX_"))}
    env.update(LD_LIBRARY_PATH=folder, TMPDIR=work)
    out = subprocess.run([program], env=env, check=True, stdout=subprocess.PIPE,
                         universal_newlines=True).stdout.splitlines()
    if not out or out[-1] != "end":
        raise RuntimeError(program + " has not come to its end")
    found = {}
    for line in out:
        call, _, result = line.partition(": ")
        found.setdefault(call, []).append(result)
    return found


def main():
    parser = argparse.ArgumentParser()
    for option in ("cc", "source", "differ", "work", "include", "lib", "other-include",
                   "other-lib"):
        parser.add_argument("--" + option, required=True)
    args = parser.parse_args()
    if not os.path.exists(args.other_lib):
        print("SKIPPED: there is no", args.other_lib)
        return 77
    try:
        check.series_judge(args.other_include, "4.2.2")  # the rows are those of this library
    except check.CannotRun as reason:
        print("SKIPPED:", reason)
        return check.SKIP
    os.makedirs(args.work, exist_ok=True)
    ours = lines(*build(args, "ours", args.include, args.lib), args.work)
    theirs = lines(*build(args, "theirs", args.other_include, args.other_lib), args.work)
    with open(args.differ, encoding="utf-8") as table:
        rows = dict(line.rstrip("\n").split("\t") for line in list(table)[1:])
    bad = 0
    for call in sorted(ours.keys() | theirs.keys()):
        differs = ours.get(call) != theirs.get(call)
        if differs and call not in rows:
            print(f"{call}: {ours.get(call)} here, {theirs.get(call)} there, and no row says why")
            bad = 1
        elif not differs and call in rows:
            print(f"{call}: no difference, but a row in {os.path.basename(args.differ)}")
            bad = 1
    for call in rows.keys() - ours.keys():
        print(f"{call}: a row in {os.path.basename(args.differ)} that nothing calls")
        bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
