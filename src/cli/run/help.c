/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* help.c - one page, examples first. */
#include "cli/run/help.h"

#include <stdio.h>

#include "cli/say.h"

static const char help_text[] =
    "usage: shmix run [options] [--] PROGRAM [ARGS] [: [options] [--] PROGRAM [ARGS]]...\n"
    "\n"
    "Start PROGRAM as the ranks of one job on this node. The ranks find each other through\n"
    "PMIx; all of their PMIx data lies in shared memory. Open MPI programs run unmodified.\n"
    "A lone ':' parts several programs (applications) of one job; ranks count on through them.\n"
    "\n"
    "examples:\n"
    "  shmix run -n 4 ./hello                     four ranks\n"
    "  shmix run -n 2 --tag-output hostname       show which rank wrote which line\n"
    "  shmix run -n 8 --bind-to core ./solver     one core for each rank\n"
    "  shmix run -n 8 --map-by numa --bind-to core --display bindings ./solver\n"
    "  shmix run -n 4 --env OMP_NUM_THREADS=2 ./hybrid\n"
    "  shmix run -n 4 --timeout 60 ./test < input rank 0 reads the input\n"
    "  shmix run -n 2 ./ocean : -n 3 ./ice        ranks 0 and 1, and ranks 2 to 4\n"
    "\n"
    "options of a program (each PROGRAM has its own):\n"
    "  -n N                   number of ranks, 1 to 16384, which is the job's limit (default 1)\n"
    "  --env NAME[=VALUE]     set NAME for the ranks, or pass on its value here; repeatable.\n"
    "                         (All of the environment is passed on anyway.)\n"
    "  --wdir DIR             the directory in which the ranks start\n"
    "  --pset NAME            put the ranks into the process set NAME (PMIX_PSET_NAMES)\n"
    "  --mca KEY VALUE        set OMPI_MCA_KEY for the ranks\n"
    "  --                     ends the options\n"
    "\n"
    "options of the job, before the first PROGRAM:\n"
    "  --map-by POLICY        how ranks are dealt out: slot: they fill the machine in order,\n"
    "                         neighbours together (default; node is the same); hwthread, core,\n"
    "                         l3cache, numa or package (socket): in turn, one to each\n"
    "  --bind-to POLICY       none, hwthread, core, l3cache, numa or package (socket): the CPUs\n"
    "                         a rank may use. Default: what it is mapped by; with slot and\n"
    "                         node: none. A core or hwthread goes to one rank\n"
    "  --display map,bindings show (stderr) where each rank goes; its process and its CPUs\n"
    "  --on-failure WHAT      when a rank fails: abort: end the job (default); notify: tell the\n"
    "                         others by an event and go on without it\n"
    "  --kill-grace SECONDS   how long the others' event handlers may take to hear of the end of\n"
    "                         a job before SIGTERM (default 0.1; ended once they have)\n"
    "  --timeout SECONDS      end the job after this time\n"
    "  --tag-output           put [namespace,rank]<stream> before each line\n"
    "  --stdin RANK|all|none  who reads the standard input (default 0)\n"
    "  --help, --version      this text; the version\n"
    "\n"
    "as for mpirun: -np is -n, -x is --env, long options may have one dash; --oversubscribe and\n"
    "--allow-run-as-root are accepted, for both are always allowed\n"
    "\n"
    "exit codes:\n"
    "  0          every rank exited with 0\n"
    "  N          the first rank that failed exited with N, or abort was called with N\n"
    "  128+S      a rank was killed by signal S, or shmix run itself got S\n"
    "  124        the job took longer than --timeout\n"
    "  126, 127   PROGRAM is not executable; PROGRAM was not found\n"
    "  1, 2       shmix run could not start the job, or a rank left without PMIx_Finalize;\n"
    "             a wrong option\n"
    "\n"
    "A rank fails when it is killed, does not exit with 0, or leaves without PMIx_Finalize. That\n"
    "ends the job, unless --on-failure says otherwise, and so does PMIx_Abort (MPI_Abort): the\n"
    "others get SIGTERM, and SIGKILL half a second later. PMIx_Abort of some ranks ends those\n"
    "alone. When a rank has ended, what is left of its process group is killed. SIGINT, SIGTERM,\n"
    "SIGQUIT and SIGHUP are passed on, and 2 seconds later the ranks are killed, at a second\n"
    "signal at once; SIGTSTP, SIGCONT, SIGUSR1 and SIGUSR2 are passed on. If shmix run itself is\n"
    "killed, the ranks are killed too, and nothing is left behind.\n"
    "\n"
    "environment:\n"
    "  TMPDIR       where the job's private directory is made (default /tmp)\n"
    "  SHMIX_LOG    none, error, warn (default), info or debug, for shmix run and the ranks\n"
    "  SHMIX_LOOP   uring or epoll: force the server's way of waiting\n"
    "  OMPI_MCA_*   Open MPI's settings are passed on. Unless they are set, OMPI_MCA_ess=pmi and\n"
    "               OMPI_MCA_schizo=ompi are added (Open MPI 4.1 would not take us for a launcher\n"
    "               otherwise), and OMPI_MCA_mpi_oversubscribe=1 where ranks outnumber CPUs\n"
    "\n"
    "More in the manual: man shmix-run\n";

static int print(const char *text)
{
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0) {
        sx_say("cannot write to stdout");
        return SX_EXIT_FAILURE;
    }
    return 0;
}

int sx_run_help(void)
{
    return print(help_text);
}

int sx_run_version(void)
{
    return print("shmix " SHMIX_VERSION "\n");
}
