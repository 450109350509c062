# SPDX-License-Identifier: BSD-3-Clause
"""Simulated nodes on one machine: a network, a host name and mounts of its own for each.

A bed is one process namespace, entered by enter(): when its first process ends, however it ends, the
kernel ends all others, and their namespaces go with them.  Node i is called n<i>, has the address
10.77.0.<i> on a bridge, its own /dev/shm, and its own folder mounted at the common path `tmp`.
"""
import ctypes
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

NET = "10.77.0"
SYSTEM_LIBPMIX = os.path.realpath("/usr/lib/x86_64-linux-gnu/libpmix.so.2")
INSIDE = "SHMIX_BED_INSIDE"


class Skip(Exception):
    """This machine cannot hold the bed; the text says why."""


def require(*commands):
    missing = [c for c in commands if shutil.which(c, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
    if missing:
        raise Skip(f"needs {', '.join(missing)} (Debian: slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge "
                   "openmpi-bin iproute2 util-linux)")


def enter():
    """Go on as the first process of a namespace of processes; return there only."""
    if os.environ.get(INSIDE) == "yes":
        return
    if os.geteuid() != 0:
        raise Skip("needs root: a node is a set of namespaces")
    require("unshare", "nsenter", "setpriv", "ip", "mount")
    probe = subprocess.run(["unshare", "--pid", "--fork", "--mount", "--net", "--uts", "true"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if probe.returncode != 0:
        raise Skip(f"namespaces are refused here: {probe.stdout.strip()}")
    os.environ[INSIDE] = "yes"
    # The namespace ends with this process, even when that one is killed.
    ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
    os.execvp("unshare", ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child=SIGKILL",
                          sys.executable] + sys.argv)


def wait_for(what, seconds, condition):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not so after {seconds} s")
        time.sleep(0.05)


class Done:
    def __init__(self, code, out):
        self.code, self.out = code, out


class Bed:
    """@library: a folder with libpmix.so.2 that is laid over the system's file in every node, or None."""

    def __init__(self, count, library=None):
        self.names = [f"n{i + 1}" for i in range(count)]
        self.state = tempfile.mkdtemp(prefix="shmix-bed-")
        os.chmod(self.state, 0o755)
        self.tmp = self.folder("tmp", 0o1777)
        self.log = self.folder("log")
        self.holders, self.daemons = {}, []
        self.library = os.path.realpath(os.path.join(library, "libpmix.so.2")) if library else None

    def folder(self, name, mode=0o755):
        path = os.path.join(self.state, name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, mode)
        return path

    def file(self, name, text, mode=0o644):
        path = os.path.join(self.state, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def __enter__(self):
        try:
            self.up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for child in self.daemons + list(self.holders.values()):
            child.kill()
        shutil.rmtree(self.state, ignore_errors=True)

    # ---- nodes -----------------------------------------------------------------------------------

    def hold(self, name):
        child = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "--propagation", "private",
                                  "sleep", "infinity"], stdin=subprocess.DEVNULL)
        self.holders[name] = child

        def is_apart():
            with open(f"/proc/{child.pid}/comm") as f:
                return f.read().strip() == "sleep"
        wait_for(f"namespaces of {name}", 20, is_apart)

    def inside(self, node, *cmd):
        return ["nsenter", "-t", str(self.holders[node].pid), "-n", "-u", "-m", f"--wd={os.getcwd()}", "--", *cmd]

    def do(self, node, *cmd):
        done = subprocess.run(self.inside(node, *cmd), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{node}: {' '.join(cmd)}: {done.stdout.strip()}")
        return done.stdout

    def node_up(self, number, name, hosts):
        self.hold(name)
        own = self.folder(f"tmp.{name}", 0o1777)
        self.do(name, "hostname", name)
        self.do(name, "mount", "--bind", hosts, "/etc/hosts")
        self.do(name, "mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
        self.do(name, "mount", "--bind", own, self.tmp)
        self.do("switch", "ip", "link", "add", f"p{number}", "type", "veth", "peer", "name", "eth0",
                "netns", str(self.holders[name].pid))
        self.do("switch", "ip", "link", "set", f"p{number}", "master", "br0", "up")
        self.do(name, "ip", "addr", "add", f"{NET}.{number}/24", "dev", "eth0")
        self.do(name, "ip", "link", "set", "eth0", "up")
        self.do(name, "ip", "link", "set", "lo", "up")
        if self.library:
            self.do(name, "mount", "--bind", self.library, SYSTEM_LIBPMIX)

    def up(self):
        hosts = self.file("hosts", "127.0.0.1 localhost\n" +
                          "".join(f"{NET}.{i} {name}\n" for i, name in enumerate(self.names, 1)))
        self.hold("switch")
        self.do("switch", "ip", "link", "add", "br0", "type", "bridge")
        self.do("switch", "ip", "link", "set", "br0", "up")
        for number, name in enumerate(self.names, 1):
            self.node_up(number, name, hosts)

    # ---- programs --------------------------------------------------------------------------------

    def start(self, node, name, *cmd, env=None):
        """A daemon: what it says goes to the log."""
        with open(os.path.join(self.log, name), "w") as log:
            self.daemons.append(subprocess.Popen(self.inside(node, *cmd), stdin=subprocess.DEVNULL, stdout=log,
                                                 stderr=log, env={**os.environ, **(env or {})}, start_new_session=True))

    def call(self, cmd, env, user, seconds):
        """Run on the first node.  Return: its status (124: did not end in time) and what it said."""
        if user != "root":
            who = pwd.getpwnam(user)
            cmd = ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups", *cmd]
        done = subprocess.run(["timeout", "-k", "10", str(seconds), *self.inside(self.names[0], *cmd)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", env={**os.environ, **env})
        return Done(done.returncode, done.stdout)

    def left(self):
        """What of ours lies in the nodes' folders once no job runs."""
        found = []
        for name in self.names:
            for folder in (os.path.join(self.state, f"tmp.{name}"),):
                for root, folders, files in os.walk(folder):
                    found += [os.path.join(root, f) for f in folders + files if "shmix" in f]
            found += [f"/dev/shm/{f} on {name}" for f in self.do(name, "ls", "/dev/shm").split() if "shmix" in f]
        return found
