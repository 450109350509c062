# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# ulfm.py HOW: the last rank ends without a word; the others find it out, part from it, and go on.
import os
import signal
import sys

from mpi4py import MPI

ends = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: os._exit(3),
    "leave": lambda: os._exit(0),
}
world = MPI.COMM_WORLD
world.Set_errhandler(MPI.ERRORS_RETURN)
rank, dead = world.rank, world.size - 1
world.Barrier()
if rank == dead:
    ends[sys.argv[1]]()


def error_of(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except MPI.Exception as error:
        return error.Get_error_class()
    return MPI.SUCCESS


if rank == 0:  # waits for the dead one, and tells those who wait for somebody who lives
    assert error_of(world.recv, source=dead) == MPI.ERR_PROC_FAILED
    world.Revoke()
else:
    assert error_of(world.recv, source=0) in (MPI.ERR_PROC_FAILED, MPI.ERR_REVOKED)
assert error_of(world.Barrier) in (MPI.ERR_PROC_FAILED, MPI.ERR_REVOKED)
rest = world.Shrink()
assert rest.size == world.size - 1
world.Ack_failed(world.size)
gone = world.Get_failed()
assert gone.Translate_ranks([0], world.Get_group()) == [dead]
assert rest.Agree(3 if rest.rank == 0 else 7) == 3
assert rest.allreduce(1) == rest.size
print("rank", rank, "has recovered", flush=True)
