#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
"""Tests of this library's promises, whose ranks have the system's OpenPMIx 4.2, each by a gateway.

usage: theirs.py CHAPTER PROGRAMS_DIR HELPERS [PROGRAM [CASE]]

The host of each test has this library. theirs.tsv lists the cases that cannot pass, with what OpenPMIx lacks
or does in another way; each of them has to fail or to be skipped, and every other case has to pass. What a
case does that depends on how fast or how busy the machine is says nothing: it is not run, and its reason
begins with "not run: ".
"""
import concurrent.futures
import glob
import os
import re
import signal
import subprocess
import sys

# Not those that judge what a commit is told (system-put_lost_test): OpenPMIx's does not wait for the answer.
CHAPTERS = {
    "base": ("system-client_basic_test", "system-get_test", "system-put_take_test", "system-values_test",
             "system-publish_test", "system-query_test", "system-restart_test", "system-credential_test",
             "system-spawn_test", "system-fence_host_test", "system-fence_leave_test", "system-late_nspace_test"),
    "events": ("system-event_client_test", "system-event_again_test", "system-event_host_test",
               "system-event_server_test", "system-event_leave_test", "system-event_unanswered_test"),
    "connect": ("conformance-connect", "conformance-connect_alias", "system-connect_test"),
    "groups": ("conformance-group_construct", "conformance-group_name", "system-group_test",
               "system-group_full_test", "system-pset_test"),
}
RELEASE = "4.2."
SECONDS, SECONDS_OF_EXCEPTION = 130, 10  # a case of the table may wait for what never comes
NOT_RUN = "not run: "


def exceptions_read(path):
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                program, case, reason = line.rstrip("\n").split("\t")
                found[(program, case)] = reason
    return found


def theirs_find():
    """Return: their folder, or why there is none."""
    for path in glob.glob("/usr/lib/*/pmix2/lib/libpmix.so.2"):
        with open(path, "rb") as file:
            release = re.search(rb"OpenPMIx ([0-9][0-9.]*)", file.read())
        if release and release[1].decode().startswith(RELEASE):
            return os.path.dirname(path), None
        return None, f"{path} is of another release than {RELEASE}*"
    return None, "the system has no OpenPMIx 4.2 (Debian 12: libpmix2)"


def run(path, case, env, seconds):
    """Return: its status (124: not done in time) and its output."""
    child = subprocess.Popen([path, case], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env=env, start_new_session=True)
    try:
        out, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # ranks, and what they have forked
        out, _ = child.communicate()
        return 124, out.decode(errors="replace")
    return child.returncode, out.decode(errors="replace")


def judge(name, case, code, out, reason):
    """Return: a line of the report, and whether it is as the table says."""
    said = {0: "ok", 77: "skipped"}.get(code, f"fails ({code})")
    if reason and code == 0:
        return f"{name} {case}: passes; theirs.tsv says that it cannot: {reason}", False
    if not reason and code not in (0, 77):
        return f"{name} {case}: {said}\n{out}", False
    return f"{name} {case}: {said}{'; ' + reason if reason else ''}", True


def main():
    chapter, folder, helpers, *only = sys.argv[1:]
    theirs, why = theirs_find()
    if why:
        print(f"skipped: {why}")
        return 77
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    table = exceptions_read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "theirs.tsv"))
    env = {**os.environ, "SHMIX_GATEWAY": "1", "JOB_THEIRS": f"{theirs}:{helpers}"}
    orders, bad = [], 0
    for name in CHAPTERS[chapter]:
        if only and only[0] != name:
            continue
        path = os.path.join(folder, name)
        cases = subprocess.run([path, "--list"], stdout=subprocess.PIPE, text=True).stdout.split()
        if not cases:
            print(f"{name} lists no cases")
            bad += 1
        orders += [(name, path, case) for case in cases if len(only) < 2 or only[1] == case]
        for program, case in table:
            if program == name and case not in cases:
                print(f"{program} has no case {case}, which theirs.tsv names")
                bad += 1
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        def do(order):
            name, path, case = order
            reason = table.get((name, case))
            if reason and reason.startswith(NOT_RUN):
                return f"{name} {case}: {reason}", True
            return judge(name, case, *run(path, case, env, SECONDS_OF_EXCEPTION if reason else SECONDS), reason)
        for line, good in pool.map(do, orders):
            print(line, flush=True)
            bad += not good
    print(f"{len(orders)} cases, {bad} of them not as theirs.tsv says")
    return 1 if bad or not orders else 0


sys.exit(main())
