/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign.c - log why a process is a singleton: its server is of another PMIx library, or the host
 * has not named one to it.
 *
 * No request is sent to such a server.  OpenPMIx names its server to processes in PMIX_SERVER_URI
 * and the like, which this library does not set, and its version in PMIX_VERSION. */
#include "client/life/life.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/log.h"
#include "base/util.h"
#include "control/rendezvous.h"

static bool is_set(const char *name)
{
    const char *const value = getenv(name);

    return value != NULL && *value != '\0';
}

/* The newest first. */
static const char *const foreign_names[] = {
    "PMIX_SERVER_URI61", "PMIX_SERVER_URI51", "PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
    "PMIX_SERVER_URI3",  "PMIX_SERVER_URI21", "PMIX_SERVER_URI2",  "PMIX_SERVER_URI",
};

/* PRRTE, which is Open MPI 5's mpirun, calls functions that only its own library has.  The names of
 * its functions begin so. */
static const char *advice_for(const char *nspace)
{
    return strncmp(nspace, "prte", 4) == 0
               ? "use shmix run (this launcher, PRRTE, runs over no library but its own)"
               : "use shmix run, or start the launcher with this library's directory first in "
                 "LD_LIBRARY_PATH (slurmd: with this library in LD_PRELOAD; 'man shmix-hosts' has "
                 "the lines, also for several machines)";
}

void sx_foreign_server_notify(const pmix_proc_t *self)
{
    const char *const version = getenv("PMIX_VERSION");
    Dl_info library = { .dli_fname = NULL };
    bool foreign = false;

    for (size_t i = 0; i < SX_COUNT(foreign_names); i++) {
        foreign = foreign || is_set(foreign_names[i]);
    }
    if (is_set(SX_ENV_SERVER_URI) || is_set(SX_ENV_SERVER_FD)) {
        return;
    }
    if (!foreign) {
        sx_log(SX_LOG_WARN,
               "rank %u of %s is on its own: its environment names no server (" SX_ENV_SERVER_URI
               "). PMIx_server_setup_fork of the host sets it; a container, sudo or env may have "
               "dropped it since",
               self->rank, self->nspace);
        return;
    }
    (void)dladdr(foreign_names, &library);
    sx_log(SX_LOG_WARN,
           "rank %u of %s is on its own: the server of its job is of another library, OpenPMIx %s, "
           "and this process has %s from %s. Both need the same one: %s, or start this program "
           "with the directory of the launcher's own library first in LD_LIBRARY_PATH",
           self->rank, self->nspace, version != NULL ? version : "of no known version",
           PMIx_Get_version(), library.dli_fname != NULL ? library.dli_fname : "an unknown file",
           advice_for(self->nspace));
}

/* Abstract sockets of this network namespace; a line of another form is not one of ours. */
static bool is_server(pid_t pid)
{
    FILE *const sockets = fopen("/proc/net/unix", "re");
    char line[256];
    bool found = false;

    while (sockets != NULL && !found && fgets(line, sizeof(line), sockets) != NULL) {
        const char *const name = strstr(line, " @" SX_RENDEZVOUS_NAME);
        unsigned uid;
        int owner;

        found = name != NULL && sscanf(name, " @" SX_RENDEZVOUS_NAME "%u-%d-", &uid, &owner) == 2 &&
                owner == pid;
    }
    if (sockets != NULL) {
        fclose(sockets);
    }
    return found;
}

void sx_foreign_parent_notify(void)
{
    const pid_t parent = getppid();

    if (is_server(parent)) {
        sx_log(SX_LOG_WARN,
               "this process is on its own: process %d, which started it, has a PMIx server, but "
               "PMIX_NAMESPACE is not set here. Call PMIx_server_setup_fork in the host, and start "
               "the program with the environment that it returns",
               (int)parent);
    }
}
