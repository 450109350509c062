# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified Slurm on simulated nodes: munged, slurmctld and a slurmd a node, no accounting, no cgroups."""
import os

import bed

CONF = """ClusterName=bed
SlurmctldHost=n1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={state}/run/munge
CredType=cred/munge
StateSaveLocation={state}/ctld
SlurmdSpoolDir={state}/spool/%n
SlurmctldPidFile={state}/slurmctld.pid
SlurmdPidFile={state}/slurmd.%n.pid
SlurmctldLogFile={state}/log/slurmctld.log
SlurmdLogFile={state}/log/slurmd.%n.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
ReturnToService=2
SlurmdParameters=config_overrides
InactiveLimit=0
KillWait=5
PropagateResourceLimits=NONE
TmpFS=/tmp
TreeWidth={tree}
PartitionName=bed Nodes=ALL Default=YES MaxTime=30 State=UP OverSubscribe=FORCE:8
"""


class Slurm(bed.Bed):
    """@tree: TreeWidth; Slurm's default of 50 makes a fence without data no barrier at all.
    @server_env: of slurmd, and so of slurmstepd."""

    def __init__(self, count, library=None, tree=None, server_env=None):
        bed.require("munged", "munge", "slurmctld", "slurmd", "srun", "scontrol", "sinfo")
        super().__init__(count, library)
        self.server_env = server_env or {}
        self.tree = tree or max(2, count)
        self.env = {"SLURM_CONF": os.path.join(self.state, "slurm.conf"),
                    "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}

    def up(self):
        super().up()
        self.munge_up()
        self.configure()
        self.start("n1", "slurmctld", "slurmctld", "-D", "-i", env=self.env)
        bed.wait_for("slurmctld answers", 60, lambda: self.says("scontrol", "ping").find(" is UP") >= 0)
        for name in self.names:
            self.start(name, f"slurmd.{name}", "slurmd", "-D", env={**self.env, **self.server_env})
        bed.wait_for("all nodes are idle", 60, lambda: self.says("sinfo", "-h", "-N", "-o", "%T").count("idle") ==
                     len(self.names))

    def says(self, *cmd):
        return self.call(list(cmd), self.env, "root", 20).out

    def munge_up(self):
        private = self.folder("munge", 0o700)
        with open(os.open(os.path.join(private, "key"), os.O_CREAT | os.O_WRONLY, 0o600), "wb") as key:
            key.write(os.urandom(128))
        os.chmod(private, 0o711)
        socket = os.path.join(self.folder("run"), "munge")
        self.start("n1", "munged", "munged", "-F", "--force", f"--key-file={private}/key", f"--socket={socket}",
                   f"--pid-file={private}/pid", f"--log-file={private}/log", f"--seed-file={private}/seed", env=self.env)
        bed.wait_for("munged answers", 30, lambda: self.call(["munge", "-n", "-S", socket], self.env, "root", 10).code == 0)

    def configure(self):
        self.folder("ctld")
        nodes = ""
        for number, name in enumerate(self.names, 1):
            self.folder(f"spool/{name}")
            nodes += f"NodeName={name} NodeAddr={bed.NET}.{number} CPUs=64 State=UNKNOWN\n"
        self.file("slurm.conf", CONF.format(state=self.state, tree=self.tree) + nodes)
        # A slurmstepd that starts tasks of another user refuses its peers' direct connections, and what they sent
        # with them is lost: one job in fifteen of nobody on four nodes hangs, with Debian's library one in thirty.
        self.file("mpi.conf", f"PMIxTimeout=60\nPMIxDirectConn=false\nPMIxCliTmpDirBase={self.tmp}\n")
        self.file("cgroup.conf", "CgroupPlugin=cgroup/v1\n")

    def run(self, ranks, program, user="root", seconds=120, env=None):
        network = {"OMPI_MCA_btl_tcp_if_include": f"{bed.NET}.0/24", "OMPI_MCA_mpi_yield_when_idle": "1"}
        return self.call(["srun", "--mpi=pmix", f"-N{len(self.names)}", f"-n{ranks}", "--ntasks-per-node=2", *program],
                         {**self.env, **network, **(env or {})}, user, seconds)
