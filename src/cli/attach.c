/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* attach.c - what was looked for, and where, is said in the words of the search itself. */
#include "cli/attach.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "base/clock.h"
#include "cli/outside.h"
#include "cli/proc.h"
#include "cli/say.h"
#include "client/life/tool.h"

bool sx_attach_pid_set(void *at, const char *value)
{
    return sx_cli_number(value, 1, INT32_MAX, at);
}

/* Whether the process that is named is there, and another user's. */
static bool is_anothers(pid_t pid)
{
    struct stat st;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    return pid != 0 && geteuid() != 0 && stat(path, &st) == 0 && st.st_uid != geteuid();
}

/* What stands behind what is wrong. */
static const char *remedy(const struct sx_attach *attach, pmix_status_t rc)
{
    switch (rc) {
    case PMIX_ERR_UNREACH:
        if (attach->pid != 0 && sx_proc_has_ended((pid_t)attach->pid)) {
            return "\nthere is no such process";
        }
        return "\n'shmix ls servers' lists those that run; --pid, --uri or --server names one";
    case PMIX_ERR_NO_PERMISSIONS:
        if (is_anothers((pid_t)attach->pid)) {
            return "\nit is another user's process: be its user, or root";
        }
        return "\na server takes the tools of its own user, and of others if its host says so";
    case PMIX_ERR_TIMEOUT:
        return "\nis it stopped? 'shmix ls' and 'shmix get' ask it nothing";
    default:
        return "";
    }
}

static bool names_many(const struct sx_attach *attach)
{
    return (attach->pid != 0) + (attach->uri != NULL) + (attach->server_nspace != NULL) +
               attach->to_system >
           1;
}

int sx_attach_begin(const struct sx_attach *attach)
{
    const uint64_t seconds = (attach->wait_ns + SX_NS_PER_SEC - 1) / SX_NS_PER_SEC;
    const struct sx_tool_options options = {
        .pid = { .given = attach->pid != 0, .number = (uint32_t)attach->pid },
        .uri = attach->uri,
        .server_nspace = attach->server_nspace,
        .to_system = attach->to_system,
        .retries = { .given = seconds > 0, .number = (uint32_t)seconds }, /* one a second */
        .timeout_ns = attach->timeout_ns,
    };
    char why[SX_TOOL_WHY_MAX];
    pmix_proc_t self;

    if (names_many(attach)) {
        sx_say("--pid, --uri, --server and --system name a server each: give one of them");
        return SX_EXIT_USAGE;
    }
    setenv("SHMIX_LOG", "none", 0); /* what went wrong is said below */
    const pmix_status_t rc = sx_tool_begin(&options, &self, why);

    if (rc == PMIX_ERR_NOT_SUPPORTED && sx_cli_outside_say_layout((pid_t)attach->pid)) {
        return SX_EXIT_FAILURE;
    }
    if (rc != PMIX_SUCCESS) {
        sx_say("%s%s%s", why[0] != '\0' ? why : "the server has not let this command in: ",
               why[0] != '\0' ? "" : PMIx_Error_string(rc), remedy(attach, rc));
    }
    return rc == PMIX_SUCCESS ? 0 : SX_EXIT_FAILURE;
}

void sx_attach_end(void)
{
    (void)PMIx_tool_finalize();
}
