# SPDX-License-Identifier: BSD-3-Clause
"""An image for containers, made of this machine's files: a shell, Open MPI with its OpenPMIx, and a program.

It has what programs of it need and no more; none of its files is of this build."""
import glob
import os
import re
import shutil
import subprocess

import bed

PROGRAMS = ("sh", "getconf", "cat", "env")
MPI = "/usr/lib/x86_64-linux-gnu/openmpi"
PMIX = "/usr/lib/x86_64-linux-gnu/pmix2"
# What the command of this build maps when it is the launcher in the image.
MAPPED = ("libhwloc.so.15", "liburing.so.2", "libnuma.so.1", "libz.so.1")

CONTAINERS = """[containers]
default_ulimits=["nofile=1024:{files}","nproc=1000:1000"]
[engine]
runtime="{runtime}"
cgroup_manager="cgroupfs"
events_logger="none"
"""
STORAGE = """[storage]
driver="vfs"
graphroot="{folder}/graph"
runroot="{folder}/run"
"""


def libraries(files):
    said = subprocess.run(["ldd", *files], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return set(re.findall(r"(/\S+) \(0x", said))


def put(image, path):
    target = image + path
    if not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(path, target)


def make(image, command, program):
    """Fill the folder @image.  @command: this build's, which is not in it; @program becomes /hello."""
    for folder in ("usr/lib64", "usr/lib", "usr/bin", "etc", "proc", "sys", "dev/shm", "tmp", "mnt", "root"):
        os.makedirs(os.path.join(image, folder))
    for link in ("bin", "lib", "lib64"):
        os.symlink(f"usr/{link}", os.path.join(image, link))
    os.chmod(os.path.join(image, "tmp"), 0o1777)
    programs = [shutil.which(name) for name in PROGRAMS]
    plugins = glob.glob(f"{MPI}/lib/openmpi3/*.so") + glob.glob(f"{PMIX}/lib/pmix/*.so")
    mapped = [f"/usr/lib/x86_64-linux-gnu/{name}" for name in MAPPED]
    for path in [*programs, *plugins, *mapped, *libraries([*programs, *plugins, *mapped, program, command])]:
        put(image, path)
    for folder in ("/etc/openmpi", "/usr/share/openmpi", "/usr/share/pmix"):
        if os.path.isdir(folder):
            shutil.copytree(folder, image + folder, ignore_dangling_symlinks=True, dirs_exist_ok=True)
    with open(os.path.join(image, "etc/passwd"), "w", encoding="utf-8") as users:
        users.write("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n")
    shutil.copy(program, os.path.join(image, "hello"))


class Podman:
    """A storage of its own in @folder.  @call runs a command where the containers are."""

    def __init__(self, folder, call):
        bed.require("podman")
        self.folder, self.call = folder, call
        self.env = {"CONTAINERS_CONF": os.path.join(folder, "containers.conf"),
                    "CONTAINERS_STORAGE_CONF": os.path.join(folder, "storage.conf")}
        with open(self.env["CONTAINERS_STORAGE_CONF"], "w", encoding="utf-8") as conf:
            conf.write(STORAGE.format(folder=folder))

    def load(self, image):
        """Make the folder @image the image "image", with the first runtime that takes this machine as it is."""
        archive = os.path.join(self.folder, "image.tar")
        subprocess.run(["tar", "-C", image, "-cf", archive, "."], check=True)
        said = ""
        for runtime in ("crun", "runc"):
            with open(self.env["CONTAINERS_CONF"], "w", encoding="utf-8") as conf:
                conf.write(CONTAINERS.format(runtime=runtime, files=1024))
            done = self.call(["sh", "-c", f"podman import -q {archive} image && podman run --rm image sh -c :"], self.env)
            if done.code == 0:
                return
            said = done.out.strip().splitlines()[-1:]
        raise bed.Skip(f"podman does not run here: {said}")
