/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* launcher.c - a tool that is a server as well.
 *
 *     a tool --PMIx_tool_init with PMIX_LAUNCHER--> with a server, which takes tools
 *         \                                          |  ^-- PMIx_tool_set_server_module
 *          \--the last finalize<---------------------/
 *
 * The server is one of PMIx_server_init like any other.  It has no entries of a host until the tool
 * gives it some. */
#include "client/life/life.h"

#include <pthread.h>

#include <pmix_tool.h>

#include "base/call/role.h"
#include "base/status.h"
#include "base/util.h"
#include "client/link/link.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_server; /* under lock */

static pmix_status_t server_start(const struct sx_tool_options *options, const pmix_proc_t *self)
{
    const bool yes = true;
    const struct {
        const char *key;
        const void *value; /* NULL: the tool did not give it */
        pmix_data_type_t type;
    } says[] = {
        { PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL },
        { PMIX_SERVER_NSPACE, self->nspace, PMIX_STRING },
        { PMIX_SERVER_RANK, &self->rank, PMIX_PROC_RANK },
        { PMIX_SERVER_TMPDIR, options->tmpdir, PMIX_STRING },
        { PMIX_HOSTNAME, options->hostname, PMIX_STRING },
        { PMIX_LAUNCHER_RENDEZVOUS_FILE, options->launcher_file, PMIX_STRING },
    };
    pmix_info_t infos[SX_COUNT(says)];
    pmix_status_t rc = PMIX_SUCCESS;
    size_t count = 0;

    for (size_t i = 0; i < SX_COUNT(says) && rc == PMIX_SUCCESS; i++) {
        if (says[i].value != NULL) {
            rc = PMIx_Info_load(&infos[count++], says[i].key, says[i].value, says[i].type);
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_server_init(NULL, infos, count);
    }
    for (size_t i = 0; i < count; i++) {
        PMIx_Info_destruct(&infos[i]);
    }
    return rc;
}

pmix_status_t sx_launcher_begin(const struct sx_tool_options *options, const pmix_proc_t *self)
{
    pmix_status_t rc = PMIX_SUCCESS;

    pthread_mutex_lock(&lock);
    if (!has_server && sx_role_server_get() != NULL) {
        rc = SX_RAISE(PMIX_ERR_EXISTS,
                      "this process has called PMIx_server_init, and cannot be given the server of "
                      "\"%s\" beside that",
                      PMIX_LAUNCHER);
    } else if (!has_server) {
        rc = server_start(options, self);
        has_server = rc == PMIX_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void sx_launcher_end(void)
{
    pthread_mutex_lock(&lock);
    const bool had_server = has_server;

    has_server = false;
    pthread_mutex_unlock(&lock);
    if (had_server) {
        (void)PMIx_server_finalize(); /* threads of the server never call this */
    }
}

void sx_launcher_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    has_server = false;
}

pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t *module)
{
    const struct sx_role_server *const server = sx_role_server_get();

    if (!sx_process_ready() || server == NULL) {
        return PMIX_ERR_INIT;
    }
    return module != NULL ? server->module_set(module) : PMIX_ERR_BAD_PARAM;
}
