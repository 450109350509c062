/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* directive_tables.c - the tables: a directive is a row, a function that takes directives an
 * entry. */
#include "base/call/directive_tables.h"

#include <limits.h>

#include <pmix_deprecated.h>
#include <shmix.h>

#include "base/call/directive_rows.h"
#include "base/stream/log_channel.h"
#include "base/util.h"

/* ---- life ---------------------------------------------------------------------------------- */

static const struct sx_directive init[] = {
    ROW(PMIX_EXTERNAL_PROGRESS, INFO, init, external),
    ROW(PMIX_PROGRAMMING_MODEL, INFO, init, model),
    CARRIED(PMIX_MODEL_LIBRARY_NAME),
    CARRIED(PMIX_MODEL_LIBRARY_VERSION),
    CARRIED(PMIX_THREADING_MODEL),
    CARRIED(PMIX_MODEL_NUM_THREADS),
    CARRIED(PMIX_MODEL_NUM_CPUS),
    CARRIED(PMIX_MODEL_CPU_TYPE),
    CARRIED(PMIX_MODEL_PHASE_NAME),
    CARRIED(PMIX_MODEL_PHASE_TYPE),
    CARRIED(PMIX_MODEL_AFFINITY_POLICY),
    ROW(PMIX_PROGRESS_THREAD_NAME, STRING, init, thread_name),
    ROW(PMIX_BIND_PROGRESS_THREAD, STRING, init, thread_cpus),
    ROW(PMIX_BIND_REQUIRED, BOOL, init, thread_bound),
    ROW(PMIX_SERVER_URI, INFO, init, server_uri),
    ROW(SX_INIT_STANDS_FOR, NUMBER, init, stands_for, .arg = INT32_MAX),
    ROW(SX_INIT_LIBRARY, NUMBER, init, library, .arg = 0xffffff),
};

#define SERVER_DIRECTIONS                                                                  \
    ROW(PMIX_TOOL_ATTACHMENT_FILE, STRING, tool, attachment_file),                         \
        ROW(PMIX_SERVER_URI, STRING, tool, uri), ROW(PMIX_TCP_URI, STRING, tool, tcp_uri), \
        ROW(PMIX_SERVER_PIDINFO, NUMBER, tool, pid, .arg = INT32_MAX),                     \
        ROW(PMIX_SERVER_NSPACE, STRING, tool, server_nspace),                              \
        ROW(PMIX_CONNECT_TO_SYSTEM, BOOL, tool, to_system),                                \
        ROW(PMIX_CONNECT_TO_SCHEDULER, BOOL, tool, to_scheduler),                          \
        ROW(PMIX_CONNECT_TO_SYS_CONTROLLER, BOOL, tool, to_controller),                    \
        ROW(PMIX_CONNECTION_ORDER, STRING, tool, order),                                   \
        IDLE(PMIX_CONNECT_SYSTEM_FIRST), /* as without a direction */                      \
        ROW(PMIX_CONNECT_MAX_RETRIES, NUMBER, tool, retries, .arg = UINT32_MAX - 1),       \
        ROW(PMIX_CONNECT_RETRY_DELAY, SECONDS, tool, retry_delay_ns),                      \
        ROW(PMIX_TIMEOUT, SECONDS, tool, timeout_ns),                                      \
        ROW(PMIX_SERVER_TMPDIR, STRING, tool, tmpdir),                                     \
        ROW(PMIX_SYSTEM_TMPDIR, STRING, tool, system_tmpdir),                              \
        ROW(PMIX_HOSTNAME, STRING, tool, hostname)

static const struct sx_directive tool_init[] = {
    SERVER_DIRECTIONS,
    ROW(PMIX_TOOL_NSPACE, STRING, tool, nspace, .arg = PMIX_MAX_NSLEN),
    ROW(PMIX_TOOL_RANK, NUMBER, tool, rank, .arg = PMIX_RANK_VALID - 1),
    ROW(PMIX_TOOL_DO_NOT_CONNECT, BOOL, tool, no_server),
    ROW(PMIX_TOOL_CONNECT_OPTIONAL, BOOL, tool, server_optional),
    ROW(PMIX_LAUNCHER, BOOL, tool, launches),
    ROW(PMIX_LAUNCHER_RENDEZVOUS_FILE, STRING, tool, launcher_file),
    ROW(PMIX_EXTERNAL_PROGRESS, INFO, tool, init.external),
    ROW(PMIX_PROGRESS_THREAD_NAME, STRING, tool, init.thread_name),
    ROW(PMIX_BIND_PROGRESS_THREAD, STRING, tool, init.thread_cpus),
    ROW(PMIX_BIND_REQUIRED, BOOL, tool, init.thread_bound),
};

static const struct sx_directive tool_attach[] = {
    SERVER_DIRECTIONS,
    ROW(PMIX_PRIMARY_SERVER, BOOL, tool, primary),
};

static const struct sx_directive set_server[] = {
    ROW(PMIX_WAIT_FOR_CONNECTION, BOOL, set_server, waits),
    ROW(PMIX_TIMEOUT, SECONDS, set_server, timeout_ns),
};

static const struct sx_directive finalize[] = {
    ROW(PMIX_EMBED_BARRIER, BOOL, finalize, barrier),
};

static const struct sx_directive thread_stop[] = {
    ROW(PMIX_PROGRESS_THREAD_NAME, STRING, thread_stop, thread_name),
    IDLE(PMIX_PROGRESS_THREAD_FLUSH), /* what is queued always runs */
};

/* ---- data ---------------------------------------------------------------------------------- */

static const struct sx_directive get[] = {
    ROW(PMIX_OPTIONAL, BOOL, get, optional),
    ROW(PMIX_IMMEDIATE, BOOL, get, immediate),
    ROW(PMIX_TIMEOUT, SECONDS, get, timeout_ns),
    ROW(PMIX_DATA_SCOPE, SCOPE, get, scope),
    ROW(PMIX_GET_STATIC_VALUES, BOOL, get, is_static),
    ROW(PMIX_GET_POINTER_VALUES, BOOL, get, is_pointers),
    ROW(PMIX_GET_REFRESH_CACHE, BOOL, get, refreshes),
    ROW(PMIX_JOB_INFO, CHOICE, get, realm, .arg = SX_GET_JOB),
    ROW(PMIX_NODE_INFO, CHOICE, get, realm, .arg = SX_GET_NODE),
    ROW(PMIX_APP_INFO, CHOICE, get, realm, .arg = SX_GET_APP),
    ROW(PMIX_SESSION_INFO, CHOICE, get, realm, .arg = SX_GET_SESSION),
    ROW(PMIX_NODEID, NUMBER, get, id[0], .arg = UINT32_MAX),
    ROW(PMIX_APPNUM, NUMBER, get, id[1], .arg = UINT32_MAX),
    ROW(PMIX_SESSION_ID, NUMBER, get, id[2], .arg = UINT32_MAX),
    ROW(PMIX_HOSTNAME, STRING, get, hostname),
    /* A key has one value, and 0 means all.  Last, as a host cannot be made to wait. */
    ROW(PMIX_WAIT, NUMBER, get, waits, .arg = 1),
};

/* ---- collectives --------------------------------------------------------------------------- */

static const struct sx_directive fence[] = {
    ROW(PMIX_TIMEOUT, SECONDS, collective, timeout_ns),
    ROW(PMIX_COLLECT_DATA, BOOL, collective, collect),
    ROW(PMIX_GROUP_FT_COLLECTIVE, FLAG, collective, pardons, .arg = SX_PARDON_BEFORE),
    ROW(PMIX_COLLECTIVE_ALGO, INFO, collective, algorithm),
    ROW(PMIX_COLLECTIVE_ALGO_REQD, BOOL, collective, algorithm_required),
    IDLE(PMIX_COLLECT_GENERATED_JOB_INFO), /* job data are always complete */
    IDLE(PMIX_ALL_CLONES_PARTICIPATE),     /* a process has no clones */
};

static const struct sx_directive of_connect[] = {
    ROW(PMIX_TIMEOUT, SECONDS, collective, timeout_ns),
    ROW(PMIX_CONNECT_ID, STRING, collective, id, .arg = PMIX_MAX_NSLEN),
    ROW(PMIX_CONNECT_OPTIONAL, FLAG, collective, pardons, .arg = SX_PARDON_BEFORE),
    ROW(PMIX_CONNECT_EARLY_TERM_ALLOWED, FLAG, collective, pardons, .arg = SX_PARDON_AFTER),
    ROW(PMIX_GROUP_FT_COLLECTIVE, FLAG, collective, pardons, .arg = SX_PARDON_BEFORE),
    ROW(PMIX_CONNECT_XCHG_ONLY, FLAG, collective, connect, .arg = SX_CONNECT_EXCHANGES),
    ROW(PMIX_CONNECT_NOTIFY_EACH, FLAG, collective, connect, .arg = SX_CONNECT_NOTIFIES),
    ROW(PMIX_CONNECT_NOTIFY_REQ, FLAG, collective, connect, .arg = SX_CONNECT_ASKS),
    ROW(PMIX_COLLECTIVE_ALGO, INFO, collective, algorithm),
    ROW(PMIX_COLLECTIVE_ALGO_REQD, BOOL, collective, algorithm_required),
};

static const struct sx_directive of_disconnect[] = {
    ROW(PMIX_TIMEOUT, SECONDS, collective, timeout_ns),
    ROW(PMIX_CONNECT_ID, STRING, collective, id, .arg = PMIX_MAX_NSLEN),
    ROW(PMIX_GROUP_FT_COLLECTIVE, FLAG, collective, pardons, .arg = SX_PARDON_BEFORE),
    ROW(PMIX_CONNECT_NOTIFY_EACH, FLAG, collective, connect, .arg = SX_CONNECT_NOTIFIES),
    ROW(PMIX_COLLECTIVE_ALGO, INFO, collective, algorithm),
    ROW(PMIX_COLLECTIVE_ALGO_REQD, BOOL, collective, algorithm_required),
};

static const struct sx_directive group_construct[] = {
    ROW(PMIX_TIMEOUT, SECONDS, collective, timeout_ns),
    ROW(PMIX_GROUP_ID, STRING, collective, id, .arg = PMIX_MAX_NSLEN),
    ROW(PMIX_GROUP_OPTIONAL, FLAG, collective, group, .arg = SX_GROUP_OPTIONAL),
    ROW(PMIX_GROUP_NOTIFY_TERMINATION, FLAG, collective, group, .arg = SX_GROUP_NOTIFY),
    ROW(PMIX_GROUP_LEADER, FLAG, collective, group, .arg = SX_GROUP_LEADER),
    ROW(PMIX_GROUP_ASSIGN_CONTEXT_ID, FLAG, collective, group, .arg = SX_GROUP_CONTEXT),
    ROW(PMIX_GROUP_LOCAL_ONLY, FLAG, collective, group, .arg = SX_GROUP_LOCAL_ONLY),
    ROW(PMIX_GROUP_FT_COLLECTIVE, FLAG, collective, group, .arg = SX_GROUP_FT),
    ROW(PMIX_GROUP_INFO, INFOS, collective, group_info),
    ROW(PMIX_GROUP_INFO_ARRAY, INFOS, collective, group_infos),
    ROW(PMIX_GROUP_LOCAL_CID, INFO, collective, local_cid),
    ROW(PMIX_GROUP_ENDPT_DATA, INFO, collective, endpoint_data),
    ROW(PMIX_GROUP_BOOTSTRAP, NUMBER, collective, leaders, .arg = UINT32_MAX),
    ROW(PMIX_GROUP_ADD_MEMBERS, PROCS, collective, added),
    ROW(PMIX_GROUP_FINAL_MEMBERSHIP_ORDER, PROCS, collective, final),
    ROW(PMIX_COLLECTIVE_ALGO, INFO, collective, algorithm),
    ROW(PMIX_COLLECTIVE_ALGO_REQD, BOOL, collective, algorithm_required),
};

static const struct sx_directive group_destruct[] = {
    ROW(PMIX_TIMEOUT, SECONDS, collective, timeout_ns),
    ROW(PMIX_COLLECTIVE_ALGO, INFO, collective, algorithm),
    ROW(PMIX_COLLECTIVE_ALGO_REQD, BOOL, collective, algorithm_required),
};

static const struct sx_directive group_invite[] = {
    ROW(PMIX_TIMEOUT, SECONDS, collective, timeout_ns),
    ROW(PMIX_GROUP_NOTIFY_TERMINATION, FLAG, collective, group, .arg = SX_GROUP_NOTIFY),
    ROW(PMIX_GROUP_ASSIGN_CONTEXT_ID, FLAG, collective, group, .arg = SX_GROUP_CONTEXT),
    ROW(PMIX_GROUP_FT_COLLECTIVE, FLAG, collective, group, .arg = SX_GROUP_FT),
    ROW(PMIX_GROUP_INFO, INFOS, collective, group_info),
    ROW(PMIX_GROUP_INFO_ARRAY, INFOS, collective, group_infos),
    ROW(PMIX_GROUP_LOCAL_CID, INFO, collective, local_cid),
    ROW(PMIX_GROUP_ENDPT_DATA, INFO, collective, endpoint_data),
    IDLE(PMIX_GROUP_LEADER),     /* the inviter always leads */
    IDLE(PMIX_GROUP_OPTIONAL),   /* invited processes may decline */
    IDLE(PMIX_GROUP_LOCAL_ONLY), /* all of them are on this node */
};

static const struct sx_directive group_join[] = {
    ROW(PMIX_TIMEOUT, SECONDS, collective, timeout_ns),
    ROW(PMIX_GROUP_INFO, INFOS, collective, group_info),
    ROW(PMIX_GROUP_INFO_ARRAY, INFOS, collective, group_infos),
    ROW(PMIX_GROUP_LOCAL_CID, INFO, collective, local_cid),
    ROW(PMIX_GROUP_ENDPT_DATA, INFO, collective, endpoint_data),
};

/* ---- events -------------------------------------------------------------------------------- */

static const struct sx_directive notify[] = {
    ROW(PMIX_EVENT_CUSTOM_RANGE, PROCS, notify, targets),
    ROW(PMIX_EVENT_AFFECTED_PROC, PROCS, notify, affected),
    ROW(PMIX_EVENT_AFFECTED_PROCS, PROCS, notify, affected),
    ROW(PMIX_EVENT_NON_DEFAULT, BOOL, notify, non_default),
    ROW(PMIX_EVENT_DO_NOT_CACHE, BOOL, notify, do_not_cache),
    ROW(PMIX_EVENT_STAYS_LOCAL, BOOL, notify, stays_local),
    ROW(PMIX_SESSION_ID, NUMBER, notify, session, .arg = UINT32_MAX),
    CARRIED(PMIX_EVENT_PROXY),
    CARRIED(PMIX_EVENT_TEXT_MESSAGE),
    CARRIED(PMIX_EVENT_TIMESTAMP),
    CARRIED(PMIX_EVENT_ACTION_TIMEOUT),
    CARRIED(PMIX_EVENT_TERMINATE_SESSION),
    CARRIED(PMIX_EVENT_TERMINATE_JOB),
    CARRIED(PMIX_EVENT_TERMINATE_NODE),
    CARRIED(PMIX_EVENT_TERMINATE_PROC),
    CARRIED(PMIX_EXIT_CODE),
    CARRIED(PMIX_JOB_TERM_STATUS),
    CARRIED(PMIX_PROC_TERM_STATUS),
    CARRIED(PMIX_PROC_STATE_STATUS),
};

static const struct sx_directive register_handler[] = {
    ROW(PMIX_EVENT_HDLR_NAME, STRING, handler, name),
    ROW(PMIX_EVENT_HDLR_FIRST, FLAG, handler, places, .arg = SX_PLACE_FIRST),
    ROW(PMIX_EVENT_HDLR_LAST, FLAG, handler, places, .arg = SX_PLACE_LAST),
    ROW(PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, FLAG, handler, places,
        .arg = SX_PLACE_FIRST_IN_CATEGORY),
    ROW(PMIX_EVENT_HDLR_LAST_IN_CATEGORY, FLAG, handler, places, .arg = SX_PLACE_LAST_IN_CATEGORY),
    ROW(PMIX_EVENT_HDLR_PREPEND, FLAG, handler, places, .arg = SX_PLACE_PREPEND),
    ROW(PMIX_EVENT_HDLR_APPEND, FLAG, handler, places, .arg = SX_PLACE_APPEND),
    ROW(PMIX_EVENT_HDLR_BEFORE, STRING, handler, before),
    ROW(PMIX_EVENT_HDLR_AFTER, STRING, handler, after),
    ROW(PMIX_EVENT_JOB_LEVEL, SAID, handler, job_level),
    ROW(PMIX_EVENT_ENVIRO_LEVEL, SAID, handler, environment_level),
    ROW(PMIX_RANGE, RANGE, handler, range),
    ROW(PMIX_EVENT_CUSTOM_RANGE, PROCS, handler, sources),
    ROW(PMIX_EVENT_AFFECTED_PROC, PROCS, handler, affected),
    ROW(PMIX_EVENT_AFFECTED_PROCS, PROCS, handler, affected),
    ROW(PMIX_EVENT_RETURN_OBJECT, INFO, handler, object),
    ROW(PMIX_EVENT_ONESHOT, BOOL, handler, once),
    ROW(SX_EVENT_OWN, BOOL, handler, own),
};

/* ---- control and machine ------------------------------------------------------------------- */

static const struct sx_directive job_control[] = {
    ROW(PMIX_REGISTER_CLEANUP, STRINGS, control, cleanups),
    ROW(PMIX_REGISTER_CLEANUP_DIR, STRINGS, control, cleanups),
    ROW(PMIX_CLEANUP_RECURSIVE, BOOL, control, recursive),
    ROW(PMIX_CLEANUP_LEAVE_TOPDIR, BOOL, control, leave_top),
    ROW(PMIX_CLEANUP_EMPTY, BOOL, control, empty),
    ROW(PMIX_CLEANUP_IGNORE, STRINGS, control, cleanups),
    ROW(PMIX_JOB_CTRL_ID, STRING, control, id),
    ROW(PMIX_JOB_CTRL_CANCEL, INFO, control, cancel),
    ROW(PMIX_JOB_CTRL_KILL, BOOL, control, kill),
    ROW(PMIX_JOB_CTRL_TERMINATE, BOOL, control, terminate),
    ROW(PMIX_JOB_CTRL_SIGNAL, NUMBER, control, signal, .arg = 64),
    ROW(PMIX_JOB_CTRL_PAUSE, BOOL, control, pause),
    ROW(PMIX_JOB_CTRL_RESUME, BOOL, control, resume),
    ROW(PMIX_JOB_CTRL_RESTART, STRING, control, restart),
    ROW(PMIX_JOB_CTRL_CHECKPOINT, STRING, control, checkpoint),
    ROW(PMIX_JOB_CTRL_CHECKPOINT_EVENT, BOOL, control, event),
    ROW(PMIX_JOB_CTRL_CHECKPOINT_SIGNAL, NUMBER, control, checkpoint_signal, .arg = UINT32_MAX),
    ROW(PMIX_JOB_CTRL_CHECKPOINT_METHOD, INFO, control, methods),
    ROW(PMIX_JOB_CTRL_PREEMPTIBLE, BOOL, control, preemptible),
    ROW(PMIX_JOB_CTRL_SEP, BOOL, control, apart),
    ROW(PMIX_JOB_CTRL_PROVISION, STRING, control, provision),
    ROW(PMIX_JOB_CTRL_PROVISION_IMAGE, STRING, control, image),
    ROW(PMIX_JOB_CTRL_DEFINE_PSET, STRING, control, pset, .arg = PMIX_MAX_KEYLEN),
};

/* Job control does it, and judges the values. */
static const struct sx_directive session_control[] = {
    CARRIED(PMIX_SESSION_CTRL_ID), CARRIED(PMIX_SESSION_PAUSE),     CARRIED(PMIX_SESSION_RESUME),
    CARRIED(PMIX_SESSION_SIGNAL),  CARRIED(PMIX_SESSION_TERMINATE),
};

static const struct sx_directive query[] = {
    ROW(PMIX_PROCID, PROCS, query, procs),
    ROW(PMIX_NSPACE, STRING, query, nspace, .arg = PMIX_MAX_NSLEN),
    ROW(PMIX_RANK, NUMBER, query, rank, .arg = UINT32_MAX),
    ROW(PMIX_GROUP_ID, STRING, query, group, .arg = PMIX_MAX_NSLEN),
    ROW(PMIX_PSET_NAME, STRING, query, pset, .arg = PMIX_MAX_KEYLEN),
    ROW(PMIX_QUERY_REFRESH_CACHE, BOOL, query, refreshes),
    ROW(PMIX_QUERY_REPORT_MINMAX, BOOL, query, minmax),
    ROW(PMIX_STORAGE_ID, STRING, query, storage),
    ROW(PMIX_STORAGE_PATH, STRING, query, storage_path),
    IDLE(PMIX_QUERY_REPORT_AVG), /* averages are always there */
    CARRIED(PMIX_QUERY_LOCAL_ONLY),
    CARRIED(PMIX_CLIENT_FUNCTIONS),
    CARRIED(PMIX_CLIENT_ATTRIBUTES),
    CARRIED(PMIX_SERVER_FUNCTIONS),
    CARRIED(PMIX_SERVER_ATTRIBUTES),
    CARRIED(PMIX_HOST_FUNCTIONS),
    CARRIED(PMIX_HOST_ATTRIBUTES),
    CARRIED(PMIX_TOOL_FUNCTIONS),
    CARRIED(PMIX_TOOL_ATTRIBUTES),
    CARRIED(PMIX_SESSION_INFO),
    CARRIED(PMIX_JOB_INFO),
    CARRIED(PMIX_APP_INFO),
    CARRIED(PMIX_NODE_INFO),
    CARRIED(PMIX_SESSION_ID),
    CARRIED(PMIX_APPNUM),
    CARRIED(PMIX_NODEID),
    CARRIED(PMIX_HOSTNAME),
    CARRIED(PMIX_DEVICE_TYPE),
    CARRIED(PMIX_DEVICE_ID),
    CARRIED(PMIX_STORAGE_TYPE),
};

static const struct sx_directive of_log[] = {
    ROW(PMIX_LOG_ONCE, BOOL, log, once),
    ROW(PMIX_LOG_SYSLOG_PRI, NUMBER, log, priority, .arg = 7),
    ROW(PMIX_LOG_TAG_OUTPUT, BOOL, log, marks.tag),
    ROW(PMIX_LOG_TIMESTAMP_OUTPUT, BOOL, log, marks.stamp),
    ROW(PMIX_LOG_XML_OUTPUT, BOOL, log, marks.xml),
    ROW(PMIX_LOG_GENERATE_TIMESTAMP, BOOL, log, stamp_now),
    ROW(PMIX_LOG_TIMESTAMP, INFO, log, when),
    ROW(PMIX_LOG_SOURCE, PROCS, log, source),
    CARRIED(PMIX_LOG_KEY),
    CARRIED(PMIX_LOG_VAL),
};

static const struct sx_directive monitor[] = {
    ROW(PMIX_MONITOR_HEARTBEAT, BOOL, monitor, heartbeats),
    ROW(PMIX_MONITOR_CANCEL, STRING, monitor, cancel, .arg = PMIX_MAX_KEYLEN),
    ROW(PMIX_MONITOR_ID, STRING, monitor, id, .arg = PMIX_MAX_KEYLEN),
    IDLE(PMIX_MONITOR_APP_CONTROL),
    CARRIED(PMIX_MONITOR_HEARTBEAT_TIME),
    CARRIED(PMIX_MONITOR_HEARTBEAT_DROPS),
    ROW(PMIX_MONITOR_FILE, STRING, monitor, file, .arg = PATH_MAX - 1),
    CARRIED(PMIX_MONITOR_FILE_SIZE),
    CARRIED(PMIX_MONITOR_FILE_ACCESS),
    CARRIED(PMIX_MONITOR_FILE_MODIFY),
    CARRIED(PMIX_MONITOR_FILE_CHECK_TIME),
    CARRIED(PMIX_MONITOR_FILE_DROPS),
    ROW(PMIX_MONITOR_PROC_RESOURCE_USAGE, INFO, monitor, usage),
    ROW(PMIX_MONITOR_NODE_RESOURCE_USAGE, INFO, monitor, usage),
    ROW(PMIX_MONITOR_DISK_RESOURCE_USAGE, INFO, monitor, usage),
    ROW(PMIX_MONITOR_NET_RESOURCE_USAGE, INFO, monitor, usage),
};

static const struct sx_directive heartbeats[] = {
    ROW(PMIX_MONITOR_HEARTBEAT, BOOL, monitor, heartbeats),
    ROW(PMIX_MONITOR_ID, STRING, monitor, id, .arg = PMIX_MAX_KEYLEN),
    ROW(PMIX_MONITOR_HEARTBEAT_TIME, NUMBER, monitor, period_s, .arg = UINT32_MAX),
    ROW(PMIX_MONITOR_HEARTBEAT_DROPS, NUMBER, monitor, pardoned, .arg = UINT32_MAX),
    IDLE(PMIX_MONITOR_APP_CONTROL),
};

static const struct sx_directive file_monitor[] = {
    ROW(PMIX_MONITOR_FILE, STRING, monitor, file, .arg = PATH_MAX - 1),
    ROW(PMIX_MONITOR_ID, STRING, monitor, id, .arg = PMIX_MAX_KEYLEN),
    ROW(PMIX_MONITOR_FILE_SIZE, BOOL, monitor, file_grows),
    ROW(PMIX_MONITOR_FILE_ACCESS, INFO, monitor, file_accessed),
    ROW(PMIX_MONITOR_FILE_MODIFY, INFO, monitor, file_modified),
    ROW(PMIX_MONITOR_FILE_CHECK_TIME, NUMBER, monitor, period_s, .arg = UINT32_MAX),
    ROW(PMIX_MONITOR_FILE_DROPS, NUMBER, monitor, pardoned, .arg = UINT32_MAX - 1),
    IDLE(PMIX_MONITOR_APP_CONTROL),
};

static const struct sx_directive usage[] = {
    ROW(PMIX_MONITOR_PROC_RESOURCE_USAGE, INFO, monitor, usage),
    ROW(PMIX_MONITOR_NODE_RESOURCE_USAGE, INFO, monitor, usage),
    ROW(PMIX_MONITOR_DISK_RESOURCE_USAGE, INFO, monitor, usage),
    ROW(PMIX_MONITOR_NET_RESOURCE_USAGE, INFO, monitor, usage),
    ROW(PMIX_MONITOR_ID, STRING, monitor, id, .arg = PMIX_MAX_KEYLEN),
    ROW(PMIX_MONITOR_RESOURCE_RATE, NUMBER, monitor, period_s, .arg = UINT32_MAX),
    ROW(PMIX_MONITOR_TARGET_PROCS, PROCS, monitor, targets),
    ROW(PMIX_MONITOR_TARGET_DISKS, INFO, monitor, disks),
    ROW(PMIX_MONITOR_TARGET_NETS, INFO, monitor, nets),
    ROW(PMIX_MONITOR_LOCAL_ONLY, BOOL, monitor, local_only),
    ROW(PMIX_MONITOR_TARGET_PIDS, INFO, monitor, elsewhere),
    ROW(PMIX_MONITOR_TARGET_NODES, INFO, monitor, elsewhere),
    ROW(PMIX_MONITOR_TARGET_NODEIDS, INFO, monitor, elsewhere),
    ROW(PMIX_MONITOR_PROXY, INFO, monitor, elsewhere),
    IDLE(PMIX_MONITOR_APP_CONTROL),
};

/* All of it is the scheduler's. */
static const struct sx_directive allocation[] = {
    CARRIED(PMIX_ALLOC_ID),
    CARRIED(PMIX_ALLOC_REQ_ID),
    CARRIED(PMIX_ALLOC_QUEUE),
    CARRIED(PMIX_ALLOC_NUM_NODES),
    CARRIED(PMIX_ALLOC_NODE_LIST),
    CARRIED(PMIX_ALLOC_NUM_CPUS),
    CARRIED(PMIX_ALLOC_NUM_CPU_LIST),
    CARRIED(PMIX_ALLOC_CPU_LIST),
    CARRIED(PMIX_ALLOC_MEM_SIZE),
    CARRIED(PMIX_ALLOC_TIME),
    CARRIED(PMIX_ALLOC_BANDWIDTH),
    CARRIED(PMIX_ALLOC_FABRIC),
    CARRIED(PMIX_ALLOC_FABRIC_ID),
    CARRIED(PMIX_ALLOC_FABRIC_TYPE),
    CARRIED(PMIX_ALLOC_FABRIC_PLANE),
    CARRIED(PMIX_ALLOC_FABRIC_QOS),
    CARRIED(PMIX_ALLOC_FABRIC_ENDPTS),
    CARRIED(PMIX_ALLOC_FABRIC_ENDPTS_NODE),
    CARRIED(PMIX_ALLOC_FABRIC_SEC_KEY),
    CARRIED(PMIX_ALLOC_PREEMPTIBLE),
    CARRIED(PMIX_ALLOC_BEGIN),
    CARRIED(PMIX_ALLOC_DEPENDENCY),
    CARRIED(PMIX_ALLOC_EXCLUDE),
    CARRIED(PMIX_ALLOC_IMAGE),
    CARRIED(PMIX_ALLOC_LEND),
    CARRIED(PMIX_ALLOC_SHARE),
    CARRIED(PMIX_ALLOC_NOSHELL),
    CARRIED(PMIX_ALLOC_WAIT_ALL_NODES),
    CARRIED(PMIX_ALLOC_NOT_WAITING),
    CARRIED(PMIX_ALLOC_CHILD_SEP),
    CARRIED(PMIX_ALLOC_MAU),
    CARRIED(PMIX_ALLOC_RES_BLOCK),
    CARRIED(PMIX_ALLOC_NUM_BLOCKS),
    CARRIED(PMIX_ALLOC_PROPERTY),
    CARRIED(PMIX_ALLOC_RELEASABLE),
    CARRIED(PMIX_ALLOC_WARN_TIMEOUT),
    CARRIED(PMIX_ALLOC_STATUS),
    CARRIED(PMIX_ALLOC_TARGET),
    CARRIED(PMIX_ALLOC_INHERITANCE),
};

static const struct sx_directive fabric[] = {
    CARRIED(PMIX_FABRIC_COST_MATRIX),
    CARRIED(PMIX_FABRIC_GROUPS),
    CARRIED(PMIX_FABRIC_VENDOR),
    CARRIED(PMIX_FABRIC_IDENTIFIER),
    CARRIED(PMIX_FABRIC_INDEX),
    CARRIED(PMIX_FABRIC_NUM_DEVICES),
    CARRIED(PMIX_FABRIC_COORDINATES),
    CARRIED(PMIX_FABRIC_DIMS),
    CARRIED(PMIX_FABRIC_ENDPT),
    CARRIED(PMIX_FABRIC_SHAPE),
    CARRIED(PMIX_FABRIC_SHAPE_STRING),
    CARRIED(PMIX_FABRIC_SWITCH),
    CARRIED(PMIX_FABRIC_PLANE),
    CARRIED(PMIX_FABRIC_DEVICES),
    CARRIED(PMIX_FABRIC_DEVICE),
    CARRIED(PMIX_FABRIC_DEVICE_INDEX),
    CARRIED(PMIX_FABRIC_DEVICE_NAME),
    CARRIED(PMIX_FABRIC_DEVICE_VENDOR),
    CARRIED(PMIX_FABRIC_DEVICE_VENDORID),
    CARRIED(PMIX_FABRIC_DEVICE_BUS_TYPE),
    CARRIED(PMIX_FABRIC_DEVICE_PCI_DEVID),
    CARRIED(PMIX_FABRIC_DEVICE_DRIVER),
    CARRIED(PMIX_FABRIC_DEVICE_FIRMWARE),
    CARRIED(PMIX_FABRIC_DEVICE_ADDRESS),
    CARRIED(PMIX_FABRIC_DEVICE_COORDINATES),
    CARRIED(PMIX_FABRIC_DEVICE_MTU),
    CARRIED(PMIX_FABRIC_DEVICE_SPEED),
    CARRIED(PMIX_FABRIC_DEVICE_STATE),
    CARRIED(PMIX_FABRIC_DEVICE_TYPE),
    CARRIED(PMIX_SWITCH_PEERS),
};

static const struct sx_directive get_credential[] = {
    CARRIED(PMIX_CRED_TYPE),
    CARRIED(PMIX_TIMEOUT),
    CARRIED(PMIX_CRYPTO_KEY),
};

static const struct sx_directive validate_credential[] = {
    CARRIED(PMIX_CREDENTIAL), /* the argument */
    CARRIED(PMIX_CRED_TYPE),
    CARRIED(PMIX_TIMEOUT),
    CARRIED(PMIX_CRYPTO_KEY),
};

static const struct sx_directive own_credential[] = {
    ROW(PMIX_CRED_TYPE, STRING, credential, types), IDLE(PMIX_TIMEOUT), /* it is answered at once */
};

static const struct sx_directive publish[] = {
    ROW(PMIX_RANGE, RANGE, publish, range),
    ROW(PMIX_EVENT_CUSTOM_RANGE, PROCS, publish, targets),
    ROW(PMIX_PERSISTENCE, PERSISTENCE, publish, persistence),
    ROW(PMIX_ACCESS_PERMISSIONS, INFOS, publish, access),
    CARRIED(PMIX_TIMEOUT), /* the host's to keep: the server itself answers at once */
};

static const struct sx_directive publish_access[] = {
    ROW(PMIX_ACCESS_USERIDS, INFO, publish_access, uids),
    ROW(PMIX_ACCESS_GRPIDS, INFO, publish_access, gids),
};

static const struct sx_directive lookup[] = {
    ROW(PMIX_RANGE, RANGE, lookup, range),
    ROW(PMIX_EVENT_CUSTOM_RANGE, PROCS, lookup, targets),
    ROW(PMIX_WAIT, INFO, lookup, wait),
    ROW(PMIX_TIMEOUT, SECONDS, lookup, timeout_ns),
};

static const struct sx_directive unpublish[] = {
    ROW(PMIX_RANGE, RANGE, unpublish, range),
    CARRIED(PMIX_TIMEOUT),
};

static const struct sx_directive compute_distances[] = {
    ROW(PMIX_DEVICE_TYPE, DEVICES, distances, types),
    ROW(PMIX_DEVICE_ID, STRING, distances, id),
};

/* ---- standard streams ---------------------------------------------------------------------- */

static const struct sx_directive iof_pull[] = {
    ROW(PMIX_IOF_CACHE_SIZE, NUMBER, iof, cache_bytes, .arg = UINT32_MAX),
    ROW(PMIX_IOF_DROP_OLDEST, BOOL, iof, drop_oldest),
    ROW(PMIX_IOF_DROP_NEWEST, BOOL, iof, drop_newest),
    MARKS(iof, marks),
    ROW(PMIX_IOF_TAG_DETAILED_OUTPUT, BOOL, iof, marks.detailed),
    IDLE(PMIX_IOF_OUTPUT_RAW), /* it is, unless marks are asked for */
    ROW(PMIX_IOF_STOP, BOOL, iof, stop),
    ROW(PMIX_IOF_REDIRECT, BOOL, iof, redirect),
    IDLE(PMIX_IOF_COPY),
    ROW(PMIX_IOF_BUFFERING_SIZE, NUMBER, iof, buffer, .arg = UINT32_MAX),
    ROW(PMIX_IOF_BUFFERING_TIME, SECONDS, iof, buffer_ns),
};

static const struct sx_directive iof_push[] = {
    ROW(PMIX_IOF_COMPLETE, BOOL, iof, complete),
    ROW(PMIX_IOF_PUSH_STDIN, BOOL, iof, own_input),
};

static const struct sx_directive iof_deliver[] = {
    ROW(PMIX_IOF_COMPLETE, BOOL, iof, complete),
    ROW(SX_IOF_AGAIN, BOOL, iof, again),
    ROW(PMIX_HOSTNAME, STRING, iof, host),
    ROW(PMIX_PROC_PID, NUMBER, iof, pid, .arg = INT32_MAX),
};

/* ---- hosts --------------------------------------------------------------------------------- */

static const struct sx_directive server_init[] = {
    ROW(PMIX_SERVER_TMPDIR, STRING, server, tmpdir),
    ROW(PMIX_SERVER_NSPACE, STRING, server, nspace),
    ROW(PMIX_SERVER_RANK, NUMBER, server, rank, .arg = UINT32_MAX),
    ROW(PMIX_HOSTNAME, STRING, server, hostname),
    ROW(PMIX_USERID, NUMBER, server, uid, .arg = UINT32_MAX),
    ROW(PMIX_GRPID, NUMBER, server, gid, .arg = UINT32_MAX),
    ROW(PMIX_SERVER_SHARE_TOPOLOGY, SAID, server, share_topology),
    ROW(PMIX_TOPOLOGY, INFO, server, topology),
    ROW(PMIX_TOPOLOGY2, INFO, server, topology_of_source),
    ROW(SHMIX_SERVER_CACHE_SIZE, NUMBER, server, cache_count, .arg = UINT32_MAX),
    ROW(SHMIX_SERVER_GET_TIMEOUT, NUMBER, server, get_timeout, .arg = UINT32_MAX),
    ROW(SHMIX_SERVER_DIRECTORY, SAID, server, directory),
    ROW(SHMIX_SERVER_NUMA, STRING, server, numa),
    ROW(SHMIX_SERVER_GATEWAY, SAID, server, gateway),
    ROW(PMIX_BIND_PROGRESS_THREAD, STRING, server, thread_cpus),
    ROW(PMIX_BIND_REQUIRED, BOOL, server, thread_bound),
    ROW(SX_SERVER_INHERIT_FD, BOOL, server, inherit_fd),
    ROW(PMIX_SERVER_TOOL_SUPPORT, BOOL, server, tools),
    ROW(PMIX_SERVER_SESSION_SUPPORT, BOOL, server, session_tools),
    ROW(PMIX_SERVER_SYSTEM_SUPPORT, BOOL, server, system_tools),
    ROW(PMIX_SERVER_SCHEDULER, BOOL, server, scheduler),
    IDLE(PMIX_SERVER_ENABLE_MONITORING), /* for each process that asks for it */
    ROW(PMIX_SERVER_SYS_CONTROLLER, BOOL, server, controller),
    ROW(PMIX_SERVER_ALLOW_FOREIGN_TOOLS, BOOL, server, foreign_tools),
    ROW(PMIX_SYSTEM_TMPDIR, STRING, server, system_tmpdir),
    ROW(PMIX_LAUNCHER_RENDEZVOUS_FILE, STRING, server, launcher_file),
    ROW(SX_SERVER_LOG_STREAMS, FLAG, server, logs, .arg = SX_LOGS_STREAMS),
    ROW(SX_SERVER_LOG_RECORDS, FLAG, server, logs, .arg = SX_LOGS_RECORDS),
};

/* Everything else are the job's data. */
static const struct sx_directive register_nspace[] = {
    ROW(PMIX_REGISTER_NODATA, BOOL, nspace, no_data),
    ROW(SX_NSPACE_COMING, SAID, nspace, coming),
    ROW(PMIX_USERID, NUMBER, nspace, uid, .arg = UINT32_MAX),
    ROW(PMIX_PARENT_ID, PROCS, nspace, parent),
};

static const struct sx_directive setup[] = {
    ROW(PMIX_SETUP_APP_ENVARS, BOOL, setup, envars), ROW(PMIX_SETUP_APP_ALL, BOOL, setup, envars),
    IDLE(PMIX_SETUP_APP_NONENVARS), /* there are none: no fabric is set up */
};

/* The results of setup_application. */
static const struct sx_directive local_support[] = {
    ROW(PMIX_SET_ENVAR, INFO, setup, envar),
    ROW(PMIX_ADD_ENVAR, INFO, setup, envar),
    ROW(PMIX_UNSET_ENVAR, INFO, setup, envar),
    ROW(PMIX_PREPEND_ENVAR, INFO, setup, envar),
    ROW(PMIX_APPEND_ENVAR, INFO, setup, envar),
    ROW(PMIX_FIRST_ENVAR, INFO, setup, envar),
    IDLE(PMIX_SETUP_APP_ENVARS), /* it is done */
    IDLE(PMIX_SETUP_APP_NONENVARS),
    IDLE(PMIX_SETUP_APP_ALL),
};

static const struct sx_directive spawn[] = {
    ROW(PMIX_FWD_ENVIRONMENT, BOOL, spawn, forwards),
    ROW(PMIX_PARENT_ID, PROCS, spawn, parent),
};

/* A spawn that a tool without a server obeys itself (client/manage/forkexec.c). */
static const struct sx_directive forkexec[] = {
    ROW(PMIX_WDIR, STRING, forkexec, wdir),
    ROW(PMIX_SET_ENVAR, INFO, forkexec, envar),
    ROW(PMIX_ADD_ENVAR, INFO, forkexec, envar),
    ROW(PMIX_UNSET_ENVAR, INFO, forkexec, envar),
    ROW(PMIX_PREPEND_ENVAR, INFO, forkexec, envar),
    ROW(PMIX_APPEND_ENVAR, INFO, forkexec, envar),
    ROW(PMIX_FIRST_ENVAR, INFO, forkexec, envar),
    IDLE(PMIX_FWD_ENVIRONMENT), /* they have it */
    IDLE(PMIX_FWD_STDIN),       /* they have the tool's own streams */
    IDLE(PMIX_FWD_STDOUT),
    IDLE(PMIX_FWD_STDERR),
    IDLE(PMIX_SPAWN_TOOL),
    IDLE(PMIX_NOTIFY_COMPLETION), /* the tool receives each end */
    IDLE(PMIX_NOTIFY_PROC_TERMINATION),
    IDLE(PMIX_PARENT_ID), /* the tool */
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
    [SX_OF_TOOL_INIT] = ENTRY("PMIx_tool_init", tool_init),
    [SX_OF_TOOL_ATTACH] = ENTRY("PMIx_tool_attach_to_server", tool_attach),
    [SX_OF_TOOL_SET_SERVER] = ENTRY("PMIx_tool_set_server", set_server),
    [SX_OF_PROGRESS_THREAD_STOP] = ENTRY("PMIx_Progress_thread_stop", thread_stop),
    [SX_OF_GET] = { .function = "PMIx_Get",
                    .rows = get,
                    .count = SX_COUNT(get),
                    .no_directives = PMIX_INFO_QUALIFIER },
    [SX_OF_GET_BY_HOST] = { .function = "PMIx_Get of a host",
                            .rows = get,
                            .count = SX_COUNT(get) - 1,
                            .no_directives = PMIX_INFO_QUALIFIER },
    [SX_OF_FENCE] = ENTRY("PMIx_Fence", fence),
    [SX_OF_CONNECT] = ENTRY("PMIx_Connect", of_connect),
    [SX_OF_DISCONNECT] = ENTRY("PMIx_Disconnect", of_disconnect),
    [SX_OF_GROUP_CONSTRUCT] = ENTRY("PMIx_Group_construct", group_construct),
    [SX_OF_GROUP_DESTRUCT] = ENTRY("PMIx_Group_destruct", group_destruct),
    [SX_OF_GROUP_LEAVE] = NONE("PMIx_Group_leave"),
    [SX_OF_GROUP_INVITE] = ENTRY("PMIx_Group_invite", group_invite),
    [SX_OF_GROUP_JOIN] = ENTRY("PMIx_Group_join", group_join),
    [SX_OF_NOTIFY] = ENTRY("PMIx_Notify_event", notify),
    [SX_OF_REGISTER_HANDLER] = ENTRY("PMIx_Register_event_handler", register_handler),
    [SX_OF_JOB_CONTROL] = ENTRY("PMIx_Job_control", job_control),
    [SX_OF_SESSION_CONTROL] = ENTRY("PMIx_Session_control", session_control),
    [SX_OF_QUERY] = ENTRY("PMIx_Query_info", query),
    [SX_OF_LOG] = ENTRY("PMIx_Log", of_log),
    [SX_OF_MONITOR] = ENTRY("PMIx_Process_monitor", monitor),
    [SX_OF_HEARTBEATS] = ENTRY("PMIx_Process_monitor of heartbeats", heartbeats),
    [SX_OF_FILE_MONITOR] = ENTRY("PMIx_Process_monitor of a file", file_monitor),
    [SX_OF_USAGE] = ENTRY("PMIx_Process_monitor of resource usage", usage),
    [SX_OF_ALLOCATION] = ENTRY("PMIx_Allocation_request", allocation),
    [SX_OF_SPAWN] = { .function = "PMIx_Spawn",
                      .rows = spawn,
                      .count = SX_COUNT(spawn),
                      .others_are_data = true }, /* the host's to judge */
    [SX_OF_FABRIC] = ENTRY("PMIx_Fabric_register", fabric),
    [SX_OF_GET_CREDENTIAL] = ENTRY("PMIx_Get_credential", get_credential),
    [SX_OF_VALIDATE_CREDENTIAL] = ENTRY("PMIx_Validate_credential", validate_credential),
    [SX_OF_OWN_CREDENTIAL] = ENTRY("PMIx_Get_credential of kind sx", own_credential),
    [SX_OF_PUBLISH] = ENTRY("PMIx_Publish", publish),
    [SX_OF_PUBLISH_ACCESS] = ENTRY("PMIX_ACCESS_PERMISSIONS of PMIx_Publish", publish_access),
    [SX_OF_LOOKUP] = ENTRY("PMIx_Lookup", lookup),
    [SX_OF_UNPUBLISH] = ENTRY("PMIx_Unpublish", unpublish),
    [SX_OF_COMPUTE_DISTANCES] = ENTRY("PMIx_Compute_distances", compute_distances),
    [SX_OF_IOF_PULL] = ENTRY("PMIx_IOF_pull", iof_pull),
    [SX_OF_IOF_DEREGISTER] = NONE("PMIx_IOF_deregister"),
    [SX_OF_IOF_FLOW] = NONE("PMIx_server_IOF_flow_control"),
    [SX_OF_IOF_PUSH] = ENTRY("PMIx_IOF_push", iof_push),
    [SX_OF_IOF_DELIVER] = ENTRY("PMIx_server_IOF_deliver", iof_deliver),
    [SX_OF_SERVER_INIT] = ENTRY("PMIx_server_init", server_init),
    [SX_OF_REGISTER_NSPACE] = { .function = "PMIx_server_register_nspace",
                                .rows = register_nspace,
                                .count = SX_COUNT(register_nspace),
                                .others_are_data = true },
    [SX_OF_SETUP_APPLICATION] = ENTRY("PMIx_server_setup_application", setup),
    [SX_OF_SETUP_LOCAL_SUPPORT] = ENTRY("PMIx_server_setup_local_support", local_support),
    [SX_OF_FORKEXEC] = ENTRY("PMIx_Spawn of a tool without a server", forkexec),
    [SX_OF_COLLECT_INVENTORY] = NONE("PMIx_server_collect_inventory"),
    [SX_OF_DELIVER_INVENTORY] = NONE("PMIx_server_deliver_inventory"),
    [SX_OF_GENERATE_REGEX2] = NONE("PMIx_generate_regex2"),
    [SX_OF_PARSE_REGEX2] = NONE("PMIx_parse_regex2"),
};
