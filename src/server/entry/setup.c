/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* setup.c - the environment of a process to be started.
 *
 * Hosts call PMIx_server_setup_fork in the parent or in the forked child, maybe as another user,
 * with a full environment or an empty one.  So this function reads only data that is constant since
 * PMIx_server_init, and the variables that the launcher has sent (server/model/setup_env.h).  It
 * takes no lock of this library and uses only the C library's allocator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/value.h"
#include "server/model/state.h"

/* Variables of an outer job that would lead the process to the wrong server. */
static const char *const stale[] = {
    "PMIX_SERVER_URI",         "PMIX_SERVER_URI2",       "PMIX_SERVER_URI21",   "PMIX_SERVER_URI3",
    "PMIX_SERVER_URI4",        "PMIX_SERVER_URI41",      "PMIX_SERVER_URI51",   "PMIX_SERVER_URI61",
    "PMIX_LAUNCHER_RNDZ_FILE", "PMIX_LAUNCHER_RNDZ_URI", "PMIX_KEEPALIVE_PIPE", SX_ENV_SERVER_FD,
};

static bool is_named(const char *entry, const char *name, size_t name_len)
{
    return strncmp(entry, name, name_len) == 0 && entry[name_len] == '=';
}

static void env_unset(char **env, const char *name)
{
    const size_t len = strlen(name);
    char **to = env;

    for (char **from = env; from != NULL && *from != NULL; from++) {
        if (is_named(*from, name, len)) {
            free(*from);
        } else {
            *to++ = *from;
        }
    }
    if (to != NULL) {
        *to = NULL;
    }
}

/* Set NAME=VALUE in the malloc'ed array of malloc'ed strings. */
static pmix_status_t env_set(char ***env, const char *name, const char *value)
{
    const size_t name_len = strlen(name);
    const size_t size = name_len + strlen(value) + 2;
    char *entry = malloc(size);
    size_t count = 0;

    if (entry == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    snprintf(entry, size, "%s=%s", name, value);
    for (char **at = *env; at != NULL && *at != NULL; at++, count++) {
        if (is_named(*at, name, name_len)) {
            free(*at);
            *at = entry;
            return PMIX_SUCCESS;
        }
    }
    char **grown = realloc(*env, (count + 2) * sizeof(*grown));

    if (grown == NULL) {
        free(entry);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    grown[count] = entry;
    grown[count + 1] = NULL;
    *env = grown;
    return PMIX_SUCCESS;
}

static bool env_has(char *const *env, const char *name)
{
    const size_t len = strlen(name);

    for (; env != NULL && *env != NULL; env++) {
        if (is_named(*env, name, len)) {
            return true;
        }
    }
    return false;
}

/* Open MPI 4.1 reads the topology's text with hwloc in MPI_Init.  libxml2, which hwloc would use
 * for that, divides zero by zero at its start, which ends a program that traps such divisions.
 * hwloc's own reader understands what hwloc has written.  A reader that is already set in the
 * environment stays. */
static pmix_status_t env_spare_libxml(char ***env)
{
    return env_has(*env, "HWLOC_LIBXML") || env_has(*env, "HWLOC_LIBXML_IMPORT")
               ? PMIX_SUCCESS
               : env_set(env, "HWLOC_LIBXML_IMPORT", "0");
}

/* Some hosts add the variables to their own environment.  If such a host is a rank itself, the
 * descriptor there leads to its server: an empty value hides it. */
static const char *fd_value_of(const struct sx_rendezvous *rendezvous)
{
    return rendezvous->fd_value == NULL && getenv(SX_ENV_SERVER_FD) != NULL ? ""
                                                                            : rendezvous->fd_value;
}

pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env)
{
    struct sx_server *const server = sx_server_or_parents();
    pmix_status_t rc;
    char rank[16];

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    if (proc == NULL || env == NULL ||
        sx_name_len(proc->nspace, sizeof(proc->nspace)) >= sizeof(proc->nspace)) {
        return PMIX_ERR_BAD_PARAM;
    }
    snprintf(rank, sizeof(rank), "%u", proc->rank);
    for (size_t i = 0; i < SX_COUNT(stale); i++) {
        env_unset(*env, stale[i]);
    }
    rc = sx_setup_env_apply(&server->carried, proc->nspace, env);
    if (rc == PMIX_SUCCESS) {
        rc = env_spare_libxml(env);
    }
    const char *const port = server->entry.gateway.port.uri;
    const char *const foreign = port[0] != '\0' ? port : NULL;
    const struct {
        const char *name, *value;
    } wanted[] = {
        { "PMIX_NAMESPACE", proc->nspace },
        { "PMIX_RANK", rank },
        { "PMIX_SECURITY_MODE", "native" },
        { "PMIX_GDS_MODULE", foreign != NULL ? SX_GATEWAY_GDS : "shmix" },
        { "PMIX_VERSION", "4.2.9" },
        { "PMIX_HOSTNAME", server->hostname },
        { "PMIX_SERVER_TMPDIR", server->tmpdir },
        { "PMIX_SERVER_URI41", foreign },
        { "PMIX_SERVER_URI4", foreign },
        { "PMIX_SERVER_URI3", foreign },
        { SX_ENV_SERVER_URI, server->rendezvous.uri },
        { SX_ENV_SERVER_FD, fd_value_of(&server->rendezvous) },
    };
    for (size_t i = 0; i < SX_COUNT(wanted) && rc == PMIX_SUCCESS; i++) {
        if (wanted[i].value != NULL) {
            rc = env_set(env, wanted[i].name, wanted[i].value);
        }
    }
    return rc;
}
