/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* attach.c - find the server; messages use the names of the options that were given. */
#include "cli/attach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "base/clock.h"
#include "client/life/life.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"

/* Whether the named process exists, and belongs to another user. */
static bool is_anothers(pid_t pid)
{
    uid_t user;

    return pid != 0 && geteuid() != 0 && sx_proc_user(pid, &user) && user != geteuid();
}

static const char *anothers_text(pid_t pid)
{
    static char text[SX_WHOSE_USERS_MAX + 64];

    snprintf(text, sizeof(text), "\nit is another user's process: be its user, or root%s",
             sx_whose_users(pid));
    return text;
}

/* A server that does not run answers nobody; the words after "is " for it, or NULL. */
static const char *halted(pid_t pid)
{
    return pid != 0 && !sx_proc_has_ended(pid) ? sx_proc_state_name(pid) : NULL;
}

/* The remedy that follows the error about the server @pid; 0: no server is known. */
static const char *remedy(pid_t pid, pmix_status_t rc)
{
    switch (rc) {
    case PMIX_ERR_UNREACH:
        if (pid != 0 && sx_proc_has_ended(pid)) {
            return "\nthere is no such process";
        }
        return "\n'shmix ls servers' lists those that run; name a job, or --pid, --uri or --server";
    case PMIX_ERR_NO_PERMISSIONS:
        if (is_anothers(pid)) {
            return anothers_text(pid);
        }
        return "\na server takes the tools of its own user, and of others if its host says so";
    case PMIX_ERR_NOT_SUPPORTED:
        return pid == 0 ? ""
                        : "\nits host takes no tools, or it is of another version of shmix: use "
                          "the shmix that is beside it";
    case PMIX_ERR_TIMEOUT:
        return "\nis it stopped? 'shmix ls' and 'shmix get' ask it nothing";
    default:
        return "";
    }
}

static unsigned servers_named(const struct sx_attach *attach)
{
    return (attach->whose.pid != 0) + (attach->whose.uri != NULL) + (attach->whose.server != NULL) +
           attach->to_system;
}

/* ---- the named target ------------------------------------------------------------------------ */

struct target {
    enum sx_whose_kind kind;
    const char *name; /* NULL: not given */
};

static struct target target_of(const struct sx_attach *attach)
{
    if (attach->whose.pid != 0 || attach->whose.uri != NULL || attach->to_system) {
        return (struct target){ .name = NULL };
    }
    if (attach->whose.server != NULL) {
        return (struct target){ SX_WHOSE_SERVER, attach->whose.server };
    }
    if (attach->group != NULL) {
        return (struct target){ SX_WHOSE_GROUP, attach->group };
    }
    if (attach->set != NULL) {
        return (struct target){ SX_WHOSE_SET, attach->set };
    }
    return (struct target){ SX_WHOSE_JOB, attach->whose.nspace };
}

/* Search the servers that have the target until one is found. */
static void target_find(const struct target *target, uint64_t wait_ns, struct sx_whose_found *ret)
{
    static const struct timespec pause = { .tv_nsec = 50 * SX_NS_PER_MS };
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), wait_ns);

    sx_whose_find(target->kind, target->name, ret);
    while (ret->count == 0 && sx_now_ns() < deadline_ns) {
        (void)nanosleep(&pause, NULL);
        sx_whose_find(target->kind, target->name, ret);
    }
}

/* ---- becoming a tool ------------------------------------------------------------------------- */

/* @is_search: nothing names the server. */
static void failure_say(const struct target *target, bool is_search, pid_t pid, pmix_status_t rc,
                        const char *why)
{
    if (rc == PMIX_ERR_UNREACH && target->name != NULL && target->kind != SX_WHOSE_SERVER) {
        static const char *const things[] = {
            [SX_WHOSE_JOB] = "jobs", [SX_WHOSE_GROUP] = "groups", [SX_WHOSE_SET] = "sets"
        };

        sx_say("no server here has '%.255s'; 'shmix ls %s' lists what there is, 'shmix ls servers' "
               "the servers",
               target->name, things[target->kind]);
        return;
    }
    if (rc == PMIX_ERR_UNREACH && strstr(why, SX_TOOL_WHY_SEVERAL) != NULL) {
        sx_say("more than one job runs here: give the name of one, or the process id of its "
               "server; 'shmix ls' lists both");
        return;
    }
    if (rc == PMIX_ERR_UNREACH && is_search && why[0] != '\0') {
        sx_say("no server of yours takes tools here (%s)%s", why, remedy(pid, rc));
        return;
    }
    sx_say("%s%s%s", why[0] != '\0' ? why : "the server has not let this command in: ",
           why[0] != '\0' ? "" : PMIx_Error_string(rc), remedy(pid, rc));
}

/* Attach to the server @pid; 0: as the other options require. */
static pmix_status_t attach_to(const struct sx_attach *attach, pid_t pid,
                               char ret_why[SX_TOOL_WHY_MAX])
{
    const bool was_waited_for = target_of(attach).name != NULL;
    const uint64_t seconds = (attach->wait_ns + SX_NS_PER_SEC - 1) / SX_NS_PER_SEC;
    const struct sx_tool_options options = {
        .pid = { .given = pid != 0, .number = (uint32_t)pid },
        .uri = attach->whose.uri,
        .server_nspace = pid != 0 ? NULL : attach->whose.server,
        .to_system = attach->to_system,
        .retries = { .given = seconds > 0 && !was_waited_for, /* one each second */
                     .number = (uint32_t)seconds },
        .timeout_ns = attach->timeout_ns,
    };
    pmix_proc_t self;

    return sx_tool_begin(&options, &self, ret_why);
}

int sx_attach_begin(const struct sx_attach *attach)
{
    const struct target target = target_of(attach);
    struct sx_whose_found found = { .count = 0 };
    char why[SX_TOOL_WHY_MAX];

    if (servers_named(attach) > 1) {
        sx_say("--pid, --uri, --server and --system name a server each: give one of them");
        return SX_EXIT_USAGE;
    }
    setenv("SHMIX_LOG", "none", 0); /* this command reports errors itself */
    if (target.name != NULL) {
        target_find(&target, attach->wait_ns, &found);
    }
    if (found.count > 1) {
        sx_whose_say_many(target.kind, target.name, &found);
        return SX_EXIT_FAILURE;
    }
    if (target.name != NULL && found.count == 0 && attach->has_to_have) {
        failure_say(&target, false, 0, PMIX_ERR_UNREACH, "");
        return SX_EXIT_FAILURE;
    }
    const pid_t pid = found.count == 1 ? found.at[0] : attach->whose.pid;
    const char *const halt = halted(pid);

    if (halt != NULL) {
        sx_say("server %d is %s and answers nobody: 'kill -CONT %d' or its debugger lets it go on; "
               "waiting for it (--timeout)",
               (int)pid, halt, (int)pid);
    }
    pmix_status_t rc = attach_to(attach, pid, why);

    if (rc == PMIX_ERR_NOT_SUPPORTED && sx_cli_outside_say_layout(pid)) {
        return SX_EXIT_FAILURE;
    }
    if (rc == PMIX_ERR_NOT_SUPPORTED && found.count == 1 && getenv("PMIX_NAMESPACE") != NULL) {
        rc = attach_to(attach, 0, why); /* it accepts no tools, but may accept us as its rank */
    }
    if (rc != PMIX_SUCCESS) {
        failure_say(&target, servers_named(attach) == 0, pid, rc, why);
    }
    return rc == PMIX_SUCCESS ? 0 : SX_EXIT_FAILURE;
}

void sx_attach_end(void)
{
    (void)PMIx_tool_finalize();
}
