/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options.c - the tables: a directive is a row, a function that takes directives an entry. */
#include "base/options.h"

#include <shmix.h>

#include "base/util.h"

/* A directive that goes into a field; a field of another type than its kind's does not compile. */
#define FIELD(kind, options, field)                                        \
    SX_DIRECTIVE_##kind,                                                   \
        .off = (uint16_t)(offsetof(struct sx_##options##_options, field) + \
                          SAME_TYPE(((struct sx_##options##_options *)NULL)->field, TYPE_##kind))
#define SAME_TYPE(field, type) \
    (0 * sizeof(char[__builtin_types_compatible_p(__typeof__(field), type) ? 1 : -1]))
#define TYPE_BOOL bool
#define TYPE_SECONDS uint64_t
#define TYPE_INFO const pmix_info_t *

#define TYPE_SAID uint8_t
#define TYPE_FLAG uint8_t
#define TYPE_NUMBER struct sx_some_number
#define TYPE_STRING const char *
#define TYPE_PROCS struct sx_some_procs
#define TYPE_RANGE pmix_data_range_t

#define CARRIED .kind = SX_DIRECTIVE_NOTHING, .effect = SX_DIRECTIVE_CARRIED
#define IDLE .kind = SX_DIRECTIVE_NOTHING, .effect = SX_DIRECTIVE_IDLE

/* ---- life ---------------------------------------------------------------------------------- */

static const struct sx_directive init[] = {
    { PMIX_EXTERNAL_PROGRESS, FIELD(INFO, init, external) },
    { PMIX_PROGRAMMING_MODEL, FIELD(INFO, init, model) },
    { PMIX_MODEL_LIBRARY_NAME, CARRIED },
    { PMIX_MODEL_LIBRARY_VERSION, CARRIED },
    { PMIX_THREADING_MODEL, CARRIED },
    { PMIX_MODEL_NUM_THREADS, CARRIED },
    { PMIX_MODEL_NUM_CPUS, CARRIED },
    { PMIX_MODEL_CPU_TYPE, CARRIED },
    { PMIX_MODEL_PHASE_NAME, CARRIED },
    { PMIX_MODEL_PHASE_TYPE, CARRIED },
    { PMIX_MODEL_AFFINITY_POLICY, CARRIED },
    { PMIX_PROGRESS_THREAD_NAME, FIELD(STRING, init, thread_name) },
    { PMIX_BIND_PROGRESS_THREAD, FIELD(STRING, init, thread_cpus) },
    { PMIX_BIND_REQUIRED, FIELD(BOOL, init, thread_bound) },
    { PMIX_SERVER_URI, FIELD(INFO, init, server_uri) },
};

static const struct sx_directive finalize[] = {
    { PMIX_EMBED_BARRIER, FIELD(BOOL, finalize, barrier) },
};

static const struct sx_directive thread_stop[] = {
    { PMIX_PROGRESS_THREAD_NAME, FIELD(STRING, thread_stop, thread_name) },
    { PMIX_PROGRESS_THREAD_FLUSH, IDLE }, /* what is queued always runs */
};

/* ---- collectives --------------------------------------------------------------------------- */

static const struct sx_directive fence[] = {
    { PMIX_TIMEOUT, FIELD(SECONDS, collective, timeout_ns) },
    { PMIX_COLLECT_DATA, FIELD(BOOL, collective, collect) },
    { PMIX_COLLECTIVE_ALGO, FIELD(INFO, collective, algorithm) },
    { PMIX_COLLECTIVE_ALGO_REQD, FIELD(BOOL, collective, algorithm_required) },
    { PMIX_COLLECT_GENERATED_JOB_INFO, IDLE }, /* job data are always complete */
    { PMIX_ALL_CLONES_PARTICIPATE, IDLE },     /* a process has no clones */
};

/* RFC0003's.  Clients do not have these calls yet, and <shmix.h> not their keys: the id, the
 * optional participation, the early termination. */
static const struct sx_directive of_connect[] = {
    { PMIX_TIMEOUT, FIELD(SECONDS, collective, timeout_ns) },
    { "pmix.cnt.id", FIELD(STRING, collective, id) },
    { "pmix.cnt.opt", FIELD(FLAG, collective, pardons), .arg = SX_PARDON_BEFORE },
    { "pmix.cnct.eterm", FIELD(FLAG, collective, pardons), .arg = SX_PARDON_AFTER },
};

static const struct sx_directive of_disconnect[] = {
    { PMIX_TIMEOUT, FIELD(SECONDS, collective, timeout_ns) },
};

/* ---- events -------------------------------------------------------------------------------- */

static const struct sx_directive notify[] = {
    { PMIX_EVENT_CUSTOM_RANGE, FIELD(PROCS, notify, targets) },
    { PMIX_EVENT_AFFECTED_PROC, FIELD(PROCS, notify, affected) },
    { PMIX_EVENT_AFFECTED_PROCS, FIELD(PROCS, notify, affected) },
    { PMIX_EVENT_NON_DEFAULT, FIELD(BOOL, notify, non_default) },
    { PMIX_EVENT_DO_NOT_CACHE, FIELD(BOOL, notify, do_not_cache) },
    { PMIX_EVENT_STAYS_LOCAL, FIELD(BOOL, notify, stays_local) },
    { PMIX_SESSION_ID, FIELD(NUMBER, notify, session), .arg = UINT32_MAX },
    { PMIX_EVENT_PROXY, CARRIED },
    { PMIX_EVENT_TEXT_MESSAGE, CARRIED },
    { PMIX_EVENT_TIMESTAMP, CARRIED },
    { PMIX_EVENT_ACTION_TIMEOUT, CARRIED },
    { PMIX_EVENT_TERMINATE_SESSION, CARRIED },
    { PMIX_EVENT_TERMINATE_JOB, CARRIED },
    { PMIX_EVENT_TERMINATE_NODE, CARRIED },
    { PMIX_EVENT_TERMINATE_PROC, CARRIED },
    { PMIX_EXIT_CODE, CARRIED },
    { PMIX_JOB_TERM_STATUS, CARRIED },
    { PMIX_PROC_TERM_STATUS, CARRIED },
    { PMIX_PROC_STATE_STATUS, CARRIED },
};

static const struct sx_directive register_handler[] = {
    { PMIX_EVENT_HDLR_NAME, FIELD(STRING, handler, name) },
    { PMIX_EVENT_HDLR_FIRST, FIELD(FLAG, handler, places), .arg = SX_PLACE_FIRST },
    { PMIX_EVENT_HDLR_LAST, FIELD(FLAG, handler, places), .arg = SX_PLACE_LAST },
    { PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, FIELD(FLAG, handler, places),
      .arg = SX_PLACE_FIRST_IN_CATEGORY },
    { PMIX_EVENT_HDLR_LAST_IN_CATEGORY, FIELD(FLAG, handler, places),
      .arg = SX_PLACE_LAST_IN_CATEGORY },
    { PMIX_EVENT_HDLR_PREPEND, FIELD(FLAG, handler, places), .arg = SX_PLACE_PREPEND },
    { PMIX_EVENT_HDLR_APPEND, FIELD(FLAG, handler, places), .arg = SX_PLACE_APPEND },
    { PMIX_EVENT_HDLR_BEFORE, FIELD(STRING, handler, before) },
    { PMIX_EVENT_HDLR_AFTER, FIELD(STRING, handler, after) },
    { PMIX_EVENT_JOB_LEVEL, FIELD(SAID, handler, job_level) },
    { PMIX_EVENT_ENVIRO_LEVEL, FIELD(SAID, handler, environment_level) },
    { PMIX_RANGE, FIELD(RANGE, handler, range) },
    { PMIX_EVENT_CUSTOM_RANGE, FIELD(PROCS, handler, sources) },
    { PMIX_EVENT_AFFECTED_PROC, FIELD(PROCS, handler, affected) },
    { PMIX_EVENT_AFFECTED_PROCS, FIELD(PROCS, handler, affected) },
    { PMIX_EVENT_RETURN_OBJECT, FIELD(INFO, handler, object) },
};

/* ---- hosts --------------------------------------------------------------------------------- */

static const struct sx_directive server_init[] = {
    { PMIX_SERVER_TMPDIR, FIELD(STRING, server, tmpdir) },
    { PMIX_SERVER_NSPACE, FIELD(STRING, server, nspace) },
    { PMIX_SERVER_RANK, FIELD(NUMBER, server, rank), .arg = UINT32_MAX },
    { PMIX_HOSTNAME, FIELD(STRING, server, hostname) },
    { PMIX_USERID, FIELD(NUMBER, server, uid), .arg = UINT32_MAX },
    { PMIX_GRPID, FIELD(NUMBER, server, gid), .arg = UINT32_MAX },
    { PMIX_SERVER_SHARE_TOPOLOGY, FIELD(SAID, server, share_topology) },
    { PMIX_TOPOLOGY, FIELD(INFO, server, topology) },
    { PMIX_TOPOLOGY2, FIELD(INFO, server, topology_of_source) },
    { SHMIX_SERVER_CACHE_SIZE, FIELD(NUMBER, server, cache_count), .arg = UINT32_MAX },
    { SHMIX_SERVER_GET_TIMEOUT, FIELD(NUMBER, server, get_timeout), .arg = UINT32_MAX },
    { SHMIX_SERVER_DIRECTORY, FIELD(SAID, server, directory) },
    { "shmix.inherit.fd", FIELD(BOOL, server, inherit_fd) }, /* shmix run */
};

/* Everything else are the job's data. */
static const struct sx_directive register_nspace[] = {
    { PMIX_REGISTER_NODATA, FIELD(BOOL, nspace, no_data) },
    { PMIX_USERID, FIELD(NUMBER, nspace, uid), .arg = UINT32_MAX },
};

static const struct sx_directive setup[] = {
    { PMIX_SETUP_APP_ENVARS, IDLE }, /* there are none to carry to other nodes */
    { PMIX_SETUP_APP_NONENVARS, IDLE },
    { PMIX_SETUP_APP_ALL, IDLE },
};

/* ---- the list ------------------------------------------------------------------------------ */

#define NONE(name)         \
    {                      \
        .function = (name) \
    }
#define ENTRY(name, table)                                            \
    {                                                                 \
        .function = (name), .rows = (table), .count = SX_COUNT(table) \
    }

const struct sx_directives sx_directives_of[SX_FUNCTION_COUNT] = {
    [SX_OF_INIT] = ENTRY("PMIx_Init", init),
    [SX_OF_FINALIZE] = ENTRY("PMIx_Finalize", finalize),
    [SX_OF_PROGRESS_THREAD_STOP] = ENTRY("PMIx_Progress_thread_stop", thread_stop),
    [SX_OF_FENCE] = ENTRY("PMIx_Fence", fence),
    [SX_OF_CONNECT] = ENTRY("PMIx_Connect", of_connect),
    [SX_OF_DISCONNECT] = ENTRY("PMIx_Disconnect", of_disconnect),
    [SX_OF_NOTIFY] = ENTRY("PMIx_Notify_event", notify),
    [SX_OF_REGISTER_HANDLER] = ENTRY("PMIx_Register_event_handler", register_handler),
    [SX_OF_SERVER_INIT] = ENTRY("PMIx_server_init", server_init),
    [SX_OF_REGISTER_NSPACE] = { .function = "PMIx_server_register_nspace",
                                .rows = register_nspace,
                                .count = SX_COUNT(register_nspace),
                                .others_are_data = true },
    [SX_OF_SETUP_APPLICATION] = ENTRY("PMIx_server_setup_application", setup),
    [SX_OF_SETUP_LOCAL_SUPPORT] = ENTRY("PMIx_server_setup_local_support", setup),
    [SX_OF_COLLECT_INVENTORY] = NONE("PMIx_server_collect_inventory"),
    [SX_OF_DELIVER_INVENTORY] = NONE("PMIx_server_deliver_inventory"),
    [SX_OF_GENERATE_REGEX2] = NONE("PMIx_generate_regex2"),
    [SX_OF_PARSE_REGEX2] = NONE("PMIx_parse_regex2"),
};
