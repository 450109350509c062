/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn_directives.c - the directives of a spawn, as `shmix run` obeys it: a row each. */
#include <pmix_deprecated.h>

#include "base/call/directive_rows.h"
#include "base/util.h"
#include "launch/ask/spawn_request.h"

#define LAUNCH_APP                                                                                \
    ROW(PMIX_WDIR, STRING, launch, wdir), ROW(PMIX_PREFIX, STRING, launch, prefix),               \
        ROW(PMIX_PSET_NAME, STRING, launch, pset, .arg = PMIX_MAX_KEYLEN),                        \
        ROW(PMIX_HOST, STRING, launch, hosts), ROW(PMIX_ADD_HOST, STRING, launch, more_hosts),    \
        ROW(PMIX_HOSTFILE, STRING, launch, hostfile),                                             \
        ROW(PMIX_ADD_HOSTFILE, STRING, launch, more_file),                                        \
        ROW(PMIX_SET_ENVAR, INFO, launch, envar), ROW(PMIX_ADD_ENVAR, INFO, launch, envar),       \
        ROW(PMIX_UNSET_ENVAR, INFO, launch, envar), ROW(PMIX_PREPEND_ENVAR, INFO, launch, envar), \
        ROW(PMIX_APPEND_ENVAR, INFO, launch, envar), ROW(PMIX_FIRST_ENVAR, INFO, launch, envar),  \
        ROW(PMIX_DEBUGGER_DAEMONS, BOOL, launch, daemons),                                        \
        ROW(PMIX_COSPAWN_APP, BOOL, launch, apart),                                               \
        ROW(PMIX_INDEX_ARGV, BOOL, launch, index_argv),                                           \
        ROW(PMIX_MAX_RESTARTS, NUMBER, launch, restarts_max, .arg = UINT32_MAX),                  \
        ROW(PMIX_EXEC_AGENT, STRING, launch, agent),                                              \
        ROW(PMIX_FORKEXEC_AGENT, STRING, launch, agent),                                          \
        ROW(SX_RUN_SEARCH, STRING, launch, search),                                               \
        ROW(PMIX_PRELOAD_FILES, STRING, launch, files),                                           \
        IDLE(PMIX_PRELOAD_BIN),        /* the node of the ranks has it: it is this one */         \
        IDLE(PMIX_WDIR_USER_SPECIFIED) /* a directory that cannot be entered is always an error */

static const struct sx_directive app_rows[] = { LAUNCH_APP };

static const struct sx_directive job_rows[] = {
    LAUNCH_APP,
    ROW(PMIX_MAPBY, STRING, launch, map),
    ROW(PMIX_BINDTO, STRING, launch, bind),
    ROW(PMIX_PPR, STRING, launch, ppr),
    ROW(PMIX_PERSONALITY, STRING, launch, personality),
    MARKS(launch, output.marks),
    ROW(PMIX_IOF_TAG_DETAILED_OUTPUT, BOOL, launch, output.marks.detailed),
    ROW(PMIX_FWD_STDOUT, FLAG, launch, output.forwards, .arg = PMIX_FWD_STDOUT_CHANNEL),
    ROW(PMIX_FWD_STDERR, FLAG, launch, output.forwards, .arg = PMIX_FWD_STDERR_CHANNEL),
    ROW(PMIX_IOF_OUTPUT_RAW, BOOL, launch, output.raw),
    ROW(PMIX_IOF_MERGE_STDERR_STDOUT, BOOL, launch, output.merge),
    ROW(PMIX_TAG_OUTPUT, BOOL, launch, output.marks.tag),
    ROW(PMIX_TIMESTAMP_OUTPUT, BOOL, launch, output.marks.stamp),
    ROW(PMIX_MERGE_STDERR_STDOUT, BOOL, launch, output.merge),
    ROW(PMIX_IOF_OUTPUT_TO_FILE, STRING, launch, output.file),
    ROW(PMIX_IOF_OUTPUT_TO_DIRECTORY, STRING, launch, output.dir),
    ROW(PMIX_IOF_FILE_PATTERN, BOOL, launch, output.pattern),
    ROW(PMIX_IOF_FILE_ONLY, BOOL, launch, output.file_only),
    ROW(PMIX_IOF_LOCAL_OUTPUT, SAID, launch, output.here),
    ROW(PMIX_IOF_INHERIT, BOOL, launch, output.inherits),
    ROW(PMIX_OUTPUT_TO_FILE, STRING, launch, output.rank_file),
    ROW(PMIX_OUTPUT_TO_DIRECTORY, STRING, launch, output.dir),
    ROW(PMIX_OUTPUT_NOCOPY, BOOL, launch, output.file_only),
    ROW(PMIX_DISPLAY_MAP, BOOL, launch, display.map),
    ROW(PMIX_DISPLAY_MAP_DETAILED, BOOL, launch, display.detailed),
    ROW(PMIX_REPORT_BINDINGS, BOOL, launch, display.bindings),
    ROW(PMIX_DISPLAY_ALLOCATION, BOOL, launch, display.allocation),
    ROW(PMIX_DISPLAY_TOPOLOGY, STRING, launch, display.topology),
    ROW(PMIX_DISPLAY_PROCESSORS, STRING, launch, display.processors),
    ROW(PMIX_DISPLAY_PARSEABLE_OUTPUT, BOOL, launch, display.parseable),
    IDLE(PMIX_REPORT_PHYSICAL_CPUS), /* CPUs have the kernel's numbers */
    ROW(PMIX_DO_NOT_LAUNCH, BOOL, launch, dry),
    ROW(PMIX_SHOW_LAUNCH_PROGRESS, BOOL, launch, progress),
    ROW(PMIX_SPAWN_CHILD_SEP, BOOL, launch, separate),
    ROW(PMIX_JOB_RECOVERABLE, BOOL, launch, goes_on),
    ROW(PMIX_JOB_CONTINUOUS, BOOL, launch, goes_on),
    ROW(PMIX_NOTIFY_COMPLETION, BOOL, launch, notify_end),
    ROW(PMIX_NOTIFY_JOB_EVENTS, BOOL, launch, notify_start),
    ROW(PMIX_NOTIFY_LAUNCH, BOOL, launch, notify_launch),
    ROW(PMIX_NOTIFY_PROC_TERMINATION, BOOL, launch, notify_ranks),
    ROW(PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION, BOOL, launch, notify_failures),
    ROW(PMIX_SET_SESSION_CWD, BOOL, launch, session_cwd),
    ROW(PMIX_CPU_LIST, STRING, launch, cpus),
    ROW(PMIX_CPUS_PER_PROC, NUMBER, launch, cpus_each, .arg = UINT16_MAX),
    ROW(PMIX_NO_OVERSUBSCRIBE, BOOL, launch, not_over),
    ROW(PMIX_STDIN_TGT, INFO, launch, input_to),
    ROW(PMIX_FWD_STDIN, INFO, launch, input_for),
    ROW(PMIX_DEBUG_STOP_ON_EXEC, INFO, launch, stop_on_exec),
    ROW(PMIX_DEBUG_STOP_IN_INIT, INFO, launch, stop_in_init),
    ROW(PMIX_DEBUG_STOP_IN_APP, INFO, launch, stop_in_app),
    ROW(PMIX_DEBUG_TARGET, PROCS, launch, target),
    ROW(PMIX_DEBUG_DAEMONS_PER_NODE, NUMBER, launch, per_node, .arg = UINT16_MAX),
    ROW(PMIX_DEBUG_DAEMONS_PER_PROC, NUMBER, launch, per_proc, .arg = UINT16_MAX),
    ROW(PMIX_DEBUG_JOB, STRING, launch, target_job, .arg = PMIX_MAX_NSLEN),
    ROW(PMIX_COLOCATE_PROCS, PROCS, launch, beside),
    ROW(PMIX_COLOCATE_NPERNODE, NUMBER, launch, beside_node, .arg = UINT16_MAX),
    ROW(PMIX_COLOCATE_NPERPROC, NUMBER, launch, beside_proc, .arg = UINT16_MAX),
    ROW(PMIX_LAUNCH_DIRECTIVES, INFO, launch, kept),
    ROW(PMIX_LAUNCHER_DAEMON, INFO, launch, kept),
    ROW(PMIX_DEBUG_JOB_DIRECTIVES, INFO, launch, kept),
    ROW(PMIX_DEBUG_APP_DIRECTIVES, INFO, launch, kept),
    ROW(PMIX_MEM_ALLOC_KIND, INFO, launch, kept),
    ROW(PMIX_TIMEOUT, SECONDS, launch, timeout_ns),
    ROW(PMIX_SPAWN_TIMEOUT, SECONDS, launch, spawn_timeout_ns),
    ROW(PMIX_JOB_TIMEOUT, SECONDS, launch, job_timeout_ns),
    ROW(PMIX_TIMEOUT_REPORT_STATE, BOOL, launch, report_state),
    ROW(PMIX_TIMEOUT_STACKTRACES, BOOL, launch, report_stacks),
    ROW(PMIX_LOG_JOB_EVENTS, BOOL, launch, log_events),
    ROW(PMIX_LOG_COMPLETION, BOOL, launch, log_end),
    ROW(PMIX_LOG_PROC_TERMINATION, BOOL, launch, log_ranks),
    ROW(PMIX_LOG_PROC_ABNORMAL_TERMINATION, BOOL, launch, log_failures),
    ROW(PMIX_LOG_STDERR, INFO, launch, channel),
    ROW(PMIX_LOG_STDOUT, INFO, launch, channel),
    ROW(PMIX_LOG_SYSLOG, INFO, launch, channel),
    ROW(PMIX_LOG_LOCAL_SYSLOG, INFO, launch, channel),
    ROW(PMIX_LOG_GLOBAL_SYSLOG, INFO, launch, channel),
    ROW(PMIX_LOG_JOB_RECORD, INFO, launch, channel),
    ROW(PMIX_LOG_GLOBAL_DATASTORE, INFO, launch, channel),
    ROW(PMIX_SPAWN_PTY, SAID, launch, pty),
    ROW(PMIX_PTY_TERMIO, INFO, launch, pty_termio),
    ROW(PMIX_PTY_WSIZE, INFO, launch, pty_size),
    ROW(PMIX_RUNTIME_OPTIONS, STRING, launch, runtime),
    IDLE(PMIX_FWD_ENVIRONMENT), /* the library has done it (client/manage/spawn.c) */
    ROW(PMIX_NO_PROCS_ON_HEAD, BOOL, launch, not_here),
    ROW(PMIX_MAPPER, STRING, launch, mapper),
    ROW(PMIX_RANKBY, STRING, launch, rank),
    ROW(PMIX_REPORT_CHILD_SEP, BOOL, launch, code_apart),
    ROW(PMIX_ABORT_NON_ZERO_TERM, SAID, launch, ends_nonzero),
    ROW(PMIX_EVENT_SILENT_TERMINATION, BOOL, launch, silent_end),
    ROW(PMIX_FWD_STDDIAG, FLAG, launch, output.forwards, .arg = PMIX_FWD_STDDIAG_CHANNEL),
    IDLE(PMIX_NON_PMI),          /* no rank has to call PMIx_Init */
    IDLE(PMIX_SPAWN_TOOL),       /* a tool is started as any rank */
    IDLE(PMIX_NOHUP),            /* a job goes on when the tool that asked for it ends */
    IDLE(PMIX_ENVARS_HARVESTED), /* nothing is added to what the launcher and the spawn have */
    IDLE(PMIX_AGGREGATE_HELP),   /* the launcher merges equal lines of several ranks */
};

const struct sx_directives sx_spawn_job_directives = {
    .function = "PMIx_Spawn of a job of shmix run", .rows = job_rows, .count = SX_COUNT(job_rows)
};

const struct sx_directives sx_spawn_app_directives = {
    .function = "PMIx_Spawn of an application of shmix run",
    .rows = app_rows,
    .count = SX_COUNT(app_rows)
};
