# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified Open MPI 4.1 mpirun and orted on simulated nodes.

Entering a node is root's right.  mpirun's remote shell, which may run as another user, hands its
command to a door: a process of root that starts it on the named node, as that user.
"""
import os
import pwd
import subprocess
import threading

import bed

# [OPTIONS] HOST COMMAND...: leave the order in a folder, wait for its status.
AGENT = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1; shift
order=$(mktemp {door}/order.XXXXXX) || exit 255
printf '%s\\n%s\\n%s\\n' "$host" $$ "$*" >"$order"
mkfifo "$order.done" && mv "$order" "$order.ready"
read -r status <"$order.done"
exit "$status"
"""


class Orte(bed.Bed):
    def __init__(self, count, library=None):
        bed.require("mpirun.openmpi", "orted")
        super().__init__(count, library)
        self.door = self.folder("door", 0o1777)
        self.is_open = True

    def up(self):
        super().up()
        self.agent = self.file("agent", AGENT.format(door=self.door), 0o755)
        self.porter = threading.Thread(target=self.attend, daemon=True)
        self.porter.start()

    def __exit__(self, *_):
        self.is_open = False
        super().__exit__()

    def attend(self):
        while self.is_open:
            try:
                orders = [o for o in os.listdir(self.door) if o.endswith(".ready")]
            except FileNotFoundError:
                return
            for name in orders:
                path = os.path.join(self.door, name)
                taken = path[:-len(".ready")] + ".taken"
                os.rename(path, taken)
                threading.Thread(target=self.serve, args=(taken,), daemon=True).start()
            threading.Event().wait(0.01)

    def serve(self, path):
        with open(path) as f:
            host, agent, command = f.read().split("\n", 2)
        who = pwd.getpwuid(os.stat(path).st_uid)
        with open(f"/proc/{agent}/fd/1", "a") as out:
            done = subprocess.run(self.inside(host, "setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}",
                                              "--clear-groups", "env", "-i", "PATH=/usr/bin:/bin", f"HOME={self.tmp}",
                                              f"TMPDIR={self.tmp}", "sh", "-c", f"cd /; {command}"),
                                  stdin=subprocess.DEVNULL, stdout=out)
        with open(path[:-len(".taken")] + ".done", "w") as answer:
            answer.write(f"{done.returncode}\n")

    def run(self, ranks, program, user="root", seconds=120, env=None):
        hosts = ",".join(f"{name}:16" for name in self.names)
        settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": self.tmp,
                    "HOME": self.tmp, "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
        return self.call(["mpirun.openmpi", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", self.agent, "--host", hosts,
                          "--mca", "oob_tcp_if_include", f"{bed.NET}.0/24", "--mca", "btl_tcp_if_include",
                          f"{bed.NET}.0/24", "--map-by", "node", "-n", str(ranks), *program],
                         {**settings, **(env or {})}, user, seconds)
