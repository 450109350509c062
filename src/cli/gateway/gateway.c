/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gateway.c - give one rank that carries another PMIx library a gateway, and become its program.
 *
 *     this process --a gateway is started that ends with it--> variables --exec--> the program
 *
 * The gateway is an orphan from its start: a program need not reap children that it has not
 * started. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "control/gateway.h"
#include "control/rendezvous.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"

#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126

/* ---- options --------------------------------------------------------------------------------- */

static const char about[] =
    "usage: shmix gateway [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Run PROGRAM, a rank that carries another PMIx library (OpenPMIx), under a host with this "
    "one:\n"
    "a process beside it translates. 'shmix run' does that by itself; under other hosts, as Slurm\n"
    "and ORTE, start the ranks by this command. A program that can load this library needs none.\n"
    "\n";

static const char more[] = "\n"
                           "examples:\n"
                           "  srun --mpi=pmix shmix gateway -- ./statically-linked-mpi-program\n"
                           "  mpirun -n 4 shmix gateway -- apptainer exec image.sif ./program\n"
                           "\n"
                           "Exit code: the program's; 1 when there is no server or no gateway; 127 "
                           "and 126 when the program\n"
                           "is not there, or cannot be started.\n";

const struct sx_verb sx_gateway_verb = {
    .name = "shmix gateway",
    .try_begin = "shmix gateway",
    .try_end = " ./program",
    .about = about,
    .more = more,
};

/* ---- the gateway ------------------------------------------------------------------------- */

static void variables_set(const struct sx_gateway_port *port)
{
    for (size_t i = 0; sx_gateway_stale[i] != NULL; i++) {
        unsetenv(sx_gateway_stale[i]);
    }
    for (size_t i = 0; sx_gateway_variables[i] != NULL; i++) {
        setenv(sx_gateway_variables[i], port->uri, 1);
    }
    setenv("PMIX_GDS_MODULE", SX_GATEWAY_GDS, 1);
    setenv("PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC", 0);
    setenv("PMIX_SECURITY_MODE", "native", 0);
}

/* Return: false with a message. */
static bool gateway_open(void)
{
    struct sx_gateway_port port;
    char *const exe = sx_proc_exe(), *program = exe == NULL ? NULL : sx_gateway_program(exe);
    int why = program == NULL ? ENOENT : sx_gateway_port_open(&port);

    if (why == 0) {
        why = sx_gateway_start_orphan(&(struct sx_gateway_start){ .program = program,
                                                                  .env = environ,
                                                                  .listen_fd = port.fd,
                                                                  .life_fd = -1,
                                                                  .log_fd = -1,
                                                                  .watched = getpid() },
                                      NULL);
        variables_set(&port);
        sx_gateway_port_close(&port); /* it is the gateway's now */
    }
    if (why != 0) {
        sx_say("no gateway can be started%s: %s",
               program == NULL ? " (" SX_GATEWAY_PROGRAM " is not beside this command)" : "",
               strerror(why));
    }
    free(program);
    free(exe);
    return why == 0;
}

static bool is_set(const char *name)
{
    const char *const value = getenv(name);

    return value != NULL && *value != '\0';
}

/* Return: false with a message. */
static bool is_rank_of_ours(void)
{
    if (is_set("PMIX_NAMESPACE") && is_set("PMIX_RANK") &&
        (is_set(SX_ENV_SERVER_URI) || is_set(SX_ENV_SERVER_FD))) {
        return true;
    }
    sx_say("this process is not a rank of a host with this library (PMIX_NAMESPACE, PMIX_RANK "
           "and " SX_ENV_SERVER_URI " are not all set)%s",
           is_set("PMIX_SERVER_URI41") || is_set("PMIX_SERVER_URI3")
               ? ": its host has OpenPMIx, so start the program without 'shmix gateway'"
               : "; start it with a launcher ('man shmix-hosts')");
    return false;
}

int sx_cli_gateway(char **words)
{
    const int code = sx_options_take(&sx_gateway_verb, NULL, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (words[0] == NULL) {
        sx_say("which program?");
        sx_options_help(&sx_gateway_verb);
        return SX_EXIT_USAGE;
    }
    if (!is_rank_of_ours() || !gateway_open()) {
        return SX_EXIT_FAILURE;
    }
    execvp(words[0], words);
    sx_say("cannot execute '%.300s': %s", words[0], strerror(errno));
    return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
