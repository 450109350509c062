/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* directive_tables.h - the directives of every function, and the options that each function gets
 * from them.
 *
 * The list of docs/support/attributes.md ("Directives of each function") is compared with these
 * tables. */
#ifndef SX_BASE_CALL_DIRECTIVE_TABLES_H
#define SX_BASE_CALL_DIRECTIVE_TABLES_H

#include "base/call/directives.h"
#include "base/stream/log_text.h"

/* Those that take directives. */
enum sx_function {
    SX_OF_INIT,
    SX_OF_FINALIZE,
    SX_OF_PROGRESS_THREAD_STOP,
    SX_OF_TOOL_INIT,
    SX_OF_TOOL_ATTACH,
    SX_OF_TOOL_SET_SERVER,
    SX_OF_GET,
    SX_OF_GET_BY_HOST,
    SX_OF_FENCE,
    SX_OF_CONNECT,
    SX_OF_DISCONNECT,
    SX_OF_GROUP_CONSTRUCT,
    SX_OF_GROUP_DESTRUCT,
    SX_OF_GROUP_LEAVE,
    SX_OF_GROUP_INVITE,
    SX_OF_GROUP_JOIN,
    SX_OF_NOTIFY,
    SX_OF_REGISTER_HANDLER,
    SX_OF_JOB_CONTROL,
    SX_OF_SESSION_CONTROL,
    SX_OF_QUERY,
    SX_OF_LOG,
    SX_OF_MONITOR,
    SX_OF_HEARTBEATS, /* the same, with what the library monitors itself ... */
    SX_OF_FILE_MONITOR,
    SX_OF_USAGE,
    SX_OF_ALLOCATION,
    SX_OF_SPAWN,
    SX_OF_FABRIC,
    SX_OF_GET_CREDENTIAL,
    SX_OF_VALIDATE_CREDENTIAL,
    SX_OF_OWN_CREDENTIAL, /* either, with one of the library's own */
    SX_OF_PUBLISH,
    SX_OF_PUBLISH_ACCESS, /* in its PMIX_ACCESS_PERMISSIONS */
    SX_OF_LOOKUP,
    SX_OF_UNPUBLISH,
    SX_OF_COMPUTE_DISTANCES,
    SX_OF_IOF_PULL,
    SX_OF_IOF_DEREGISTER,
    SX_OF_IOF_FLOW,
    SX_OF_IOF_PUSH,
    SX_OF_IOF_DELIVER,
    SX_OF_SERVER_INIT,
    SX_OF_REGISTER_NSPACE,
    SX_OF_SETUP_APPLICATION,
    SX_OF_SETUP_LOCAL_SUPPORT,
    SX_OF_FORKEXEC, /* a spawn that a tool without a server obeys itself, of job or application */
    SX_OF_COLLECT_INVENTORY,
    SX_OF_DELIVER_INVENTORY,
    SX_OF_GENERATE_REGEX2,
    SX_OF_PARSE_REGEX2,
    SX_FUNCTION_COUNT,
};

extern const struct sx_directives sx_directives_of[SX_FUNCTION_COUNT];

/* Return: as sx_directives_read. */
static inline pmix_status_t sx_options_read(enum sx_function function, const pmix_info_t *info,
                                            size_t ninfo, void *options)
{
    return sx_directives_read(&sx_directives_of[function], info, ninfo, options);
}

struct sx_init_options {
    const pmix_info_t *external;
    const pmix_info_t *model; /* which makes all infos of the call known */
    const char *thread_name, *thread_cpus;
    bool thread_bound; /* to the CPUs, or there is none */
    const pmix_info_t *server_uri;
    struct sx_some_number stands_for, library;
};

/* Of a gateway, which is the client of a rank with another PMIx library: that rank's process, and
 * the release of that library as a number (0x040202 is 4.2.2). */
#define SX_INIT_STANDS_FOR "shmix.stands.for"
#define SX_INIT_LIBRARY "shmix.stands.library"

struct sx_tool_options {
    struct sx_init_options init;
    const char *nspace; /* that it wants; NULL: not given, as below */
    struct sx_some_number rank;
    /* Which server: tool_search.h. */
    const char *attachment_file, *uri, *tcp_uri, *server_nspace;
    struct sx_some_number pid;
    bool to_system, to_scheduler, to_controller; /* the one server of the node for that ... */
    const char *order;                           /* ... or the first of these; NULL: not given */
    bool no_server, server_optional, primary;
    struct sx_some_number retries;
    uint64_t retry_delay_ns; /* 0: not given */
    uint64_t timeout_ns;     /* for the answer; 0: not given */
    const char *tmpdir, *system_tmpdir, *hostname;
    /* It is a server, too: launcher.h. */
    bool launches;
    const char *launcher_file;
};

struct sx_set_server_options {
    bool waits; /* for a server that is not there yet */
    uint64_t timeout_ns;
};

struct sx_finalize_options {
    bool barrier;
};

struct sx_thread_stop_options {
    const char *thread_name;
};

/* The realm that a Get wants: 1 and more, in the order of enum sx_realm. */
enum sx_get_realm { SX_GET_ANY, SX_GET_JOB, SX_GET_NODE, SX_GET_APP, SX_GET_SESSION };

struct sx_get_options {
    bool optional, immediate;
    bool refreshes;              /* what another node's rank has put again, too */
    bool is_static;              /* fill the caller's pmix_value_t */
    bool is_pointers;            /* point into the store instead of copying */
    uint8_t realm;               /* enum sx_get_realm */
    pmix_scope_t scope;          /* PMIX_SCOPE_UNDEF: any */
    struct sx_some_number waits; /* for so many values, for a reserved key too */
    struct sx_some_number id[3]; /* of the node, app, session */
    const char *hostname;        /* names a node */
    uint64_t timeout_ns;         /* 0: none */
};

/* Ends of members that are not errors. */
#define SX_PARDON_BEFORE 0x01u /* it had not called */
#define SX_PARDON_AFTER 0x02u  /* it had */

/* Options of a connect, by any of its callers. */
#define SX_CONNECT_EXCHANGES 0x01u /* no new namespace */
#define SX_CONNECT_NOTIFIES 0x02u  /* the others receive each caller's name */
#define SX_CONNECT_ASKS 0x04u      /* and missing members are asked to call */

/* Options of a group and its construction, by any of its callers. */
#define SX_GROUP_OPTIONAL 0x01u   /* without those that do not call */
#define SX_GROUP_NOTIFY 0x02u     /* the others receive the end of a member */
#define SX_GROUP_LEADER 0x04u     /* the caller leads */
#define SX_GROUP_CONTEXT 0x08u    /* it gets a context id */
#define SX_GROUP_LOCAL_ONLY 0x10u /* all members are on this node */
#define SX_GROUP_FT 0x20u         /* its operations go on without ended members */

/* Of all kinds; each has a table of its callers' directives. */
struct sx_collective_options {
    uint64_t timeout_ns; /* 0: none */
    bool collect;
    bool algorithm_required;
    const pmix_info_t *algorithm; /* may be required by its own mark as well */
    const char *id;               /* callers with another one mean another operation; NULL: none */
    uint8_t pardons;              /* SX_PARDON_* */
    uint8_t connect;              /* SX_CONNECT_* */
    uint8_t group;                /* SX_GROUP_* */
    /* Infos of this member that the others can get. */
    struct sx_some_infos group_info;
    struct sx_some_infos group_infos; /* the same, and such arrays among them */
    const pmix_info_t *local_cid, *endpoint_data;
    /* A group whose members do not have each other's names: so many of them lead, and each names
     * the members that it adds.  0: this one does not lead. */
    struct sx_some_number leaders;
    struct sx_some_procs added;
    struct sx_some_procs final; /* these have the first ranks */
};

struct sx_publish_options {
    pmix_data_range_t range;        /* of processes that may look it up */
    struct sx_some_procs targets;   /* range CUSTOM */
    pmix_persistence_t persistence; /* how long it stays */
    struct sx_some_infos access;
};

/* Access for others than the publisher's user: arrays of numbers. */
struct sx_publish_access_options {
    const pmix_info_t *uids, *gids;
};

struct sx_lookup_options {
    pmix_data_range_t range;         /* of publishers, as the caller sees them */
    pmix_data_range_t range_unknown; /* the given number, if it is not a range; 0 */
    struct sx_some_procs targets;    /* range CUSTOM */
    const pmix_info_t *wait;         /* for how many; NULL: it does not wait */
    uint64_t timeout_ns;             /* 0: none */
};

struct sx_unpublish_options {
    pmix_data_range_t range; /* that it was published in */
};

struct sx_notify_options {
    pmix_data_range_t range; /* the argument; no directive */
    bool non_default, do_not_cache, stays_local;
    struct sx_some_procs targets; /* range CUSTOM */
    struct sx_some_procs affected;
    struct sx_some_number session; /* of a host */
};

/* Places of a handler; one at most, and `before` and `after` are two more. */
#define SX_PLACE_FIRST 0x01u
#define SX_PLACE_LAST 0x02u
#define SX_PLACE_FIRST_IN_CATEGORY 0x04u
#define SX_PLACE_LAST_IN_CATEGORY 0x08u
#define SX_PLACE_PREPEND 0x10u
#define SX_PLACE_APPEND 0x20u

struct sx_handler_options {
    const char *name; /* NULL: none */
    uint8_t places;   /* SX_PLACE_* */
    const char *before, *after;
    uint8_t job_level, environment_level; /* enum sx_said */
    pmix_data_range_t range;
    struct sx_some_procs sources; /* makes the range CUSTOM */
    struct sx_some_procs affected;
    const pmix_info_t *object; /* PMIX_POINTER */
    bool once;                 /* it is deregistered after its first call */
    bool own;                  /* SX_EVENT_OWN */
};

/* A handler for events that this library raises in the process itself.  The server is not asked,
 * and keeps the job's events until a handler for others is registered (BOOL). */
#define SX_EVENT_OWN "shmix.event.own"

struct sx_forkexec_options {
    const char *wdir;
    const pmix_info_t *envar; /* one at least: environment.h reads them */
};

struct sx_control_options {
    uint32_t cleanups; /* PMIX_REGISTER_CLEANUP, _CLEANUP_DIR, PMIX_CLEANUP_IGNORE: paths */
    bool recursive, leave_top, empty;
    /* All directives for the host. */
    bool kill, terminate, pause, resume, preemptible, event;
    struct sx_some_number signal, checkpoint_signal;
    bool apart;                /* what the targets have spawned is not meant */
    const char *id;            /* of this request */
    const pmix_info_t *cancel; /* the id of another one; no string: all of the caller's */
    const char *restart, *checkpoint, *provision, *image;
    const pmix_info_t *methods; /* of a checkpoint */
    const char *pset;           /* the targets become this set; the server does that itself */
};

/* The qualifiers of one query: what its keys are about. */
struct sx_query_options {
    struct sx_some_procs procs; /* PMIX_PROCID */
    const char *nspace;
    struct sx_some_number rank;
    const char *group, *pset;
    bool refreshes;                     /* no kept earlier answers */
    bool minmax;                        /* the smallest and the largest, beside the average */
    const char *storage, *storage_path; /* where it is mounted; what is in it */
};

struct sx_log_options {
    bool once; /* the first channel that can, and no other */
    struct sx_some_number priority;
    struct sx_marks marks;       /* of what goes to a stream */
    bool stamp_now;              /* the time of logging, whatever `when` says */
    const pmix_info_t *when;     /* PMIX_TIME */
    struct sx_some_procs source; /* of a host */
};

struct sx_monitor_options {
    bool heartbeats;
    const char *file; /* NULL: none */
    bool file_grows;
    const pmix_info_t *file_accessed, *file_modified; /* any value: the Standard has strings */
    const pmix_info_t *usage;                         /* of what; its value may name fields */
    struct sx_some_procs targets;                     /* of usage */
    const pmix_info_t *disks, *nets;                  /* the same; their names */
    bool local_only;
    const pmix_info_t *elsewhere; /* only the host can monitor it */
    const char *cancel;           /* empty: all of them; NULL: nothing is cancelled */
    const char *id;               /* NULL: none */
    struct sx_some_number period_s, pardoned;
};

static inline enum sx_function sx_monitor_kind(const struct sx_monitor_options *options)
{
    if (options->heartbeats) {
        return SX_OF_HEARTBEATS;
    }
    if (options->usage != NULL) {
        return SX_OF_USAGE;
    }
    return options->file != NULL ? SX_OF_FILE_MONITOR : SX_OF_MONITOR;
}

/* The first of @info is the kind of monitor; the other directives depend on it.  Return: as
 * sx_directives_read. */
static inline pmix_status_t sx_monitor_options_read(const pmix_info_t *info, size_t ninfo,
                                                    struct sx_monitor_options *options)
{
    const pmix_status_t rc = sx_options_read(SX_OF_MONITOR, info, ninfo > 0 ? 1 : 0, options);

    return rc == PMIX_SUCCESS ? sx_options_read(sx_monitor_kind(options), info, ninfo, options)
                              : rc;
}

struct sx_credential_options {
    const char *types; /* with commas; NULL: any */
};

/* The destinations of the output of a job's ranks. */
struct sx_output_options {
    struct sx_marks marks;
    bool merge;             /* stderr goes where stdout goes */
    bool raw;               /* as it comes: lines are not waited for */
    const char *file, *dir; /* NULL, as below: none is named */
    const char *rank_file;  /* one for both streams */
    bool pattern;           /* the file's name is one */
    bool file_only;         /* and not to the launcher's own streams */
    uint8_t here;           /* enum sx_said: to the launcher's own streams */
    bool inherits;          /* the marks of the caller's job, if it has none */
    uint8_t forwards;       /* channels that are delivered from the begin on */
};

/* What `shmix run` does for a spawn. */
/* The parts of a spawn that the library does itself; the rest is the host's. */
struct sx_spawn_options {
    bool forwards;               /* the caller's environment */
    struct sx_some_procs parent; /* has to be one process; the server fills it in */
};

/* Displays of a node, and of a job before it starts. */
struct sx_display_options {
    bool map, detailed; /* each rank's place; with its variables and its command */
    bool bindings;      /* each rank's process and CPUs, when it has started */
    bool allocation;
    bool parseable;                    /* for programs */
    const char *topology, *processors; /* of these nodes, with commas; NULL: not shown */
};

/* Of a stream: where it comes from, and how it is handed on. */
struct sx_iof_options {
    struct sx_some_number cache_bytes; /* that wait in the server, at most */
    bool drop_oldest, drop_newest;     /* when there is no room; else nothing is dropped */
    struct sx_marks marks;             /* of each line */
    bool complete;                     /* nothing comes behind it */
    bool again;                        /* not for the pulls that there are */
    bool own_input;                    /* the caller's standard input is pushed */
    bool stop;                         /* of a host: a pull has ended */
    bool redirect;                     /* it goes nowhere else */
    struct sx_some_number buffer;      /* so many bytes at once */
    uint64_t buffer_ns;                /* or what has come in this time; 0: neither */
    const char *host;                  /* where its process is; NULL: not given */
    struct sx_some_number pid;         /* of its process */
};

/* The setup of a job before it starts. */
struct sx_setup_options {
    bool envars;              /* variables are to be sent along */
    const pmix_info_t *envar; /* one at least was: environment.h reads them */
};

struct sx_distances_options {
    pmix_device_type_t types;
    const char *id; /* NULL: any */
};

/* Of `shmix run`: its server is to keep a descriptor that the ranks inherit, so that they reach it
 * without a path (SHMIX_SERVER_FD). */
#define SX_SERVER_INHERIT_FD "shmix.inherit.fd"
/* Also of it: its `log` entry takes lines for the standard streams, or for records. */
#define SX_SERVER_LOG_STREAMS "shmix.log.streams"
#define SX_SERVER_LOG_RECORDS "shmix.log.records"

struct sx_server_options {
    const char *tmpdir, *nspace, *hostname; /* NULL: not given */
    struct sx_some_number rank, uid, gid;
    struct sx_some_number cache_count;     /* events */
    struct sx_some_number get_timeout;     /* seconds */
    uint8_t directory;                     /* enum sx_said */
    uint8_t share_topology;                /* enum sx_said */
    const pmix_info_t *topology;           /* PMIX_POINTER */
    const pmix_info_t *topology_of_source; /* PMIX_TOPO or PMIX_POINTER */
    bool inherit_fd;
    uint8_t gateway; /* enum sx_said */
    bool tools, session_tools, foreign_tools;
    bool system_tools, scheduler, controller;  /* its roles on this node */
    const char *system_tmpdir, *launcher_file; /* NULL: not given */
    const char *numa;                          /* a policy; NULL: not given */
    const char *thread_cpus;                   /* of the loop's thread; NULL: not given */
    bool thread_bound;                         /* to them, or there is no server */
    uint8_t logs;                              /* SX_LOGS_*: log_channel.h */
};

/* Also of it, about a job: true: the text of the node's topology follows in a later registration,
 * and Gets of it wait; false: it does not follow.  In between it is one of the job's keys
 * (client/data/lookup.h). */
#define SX_NSPACE_COMING "shmix.coming"
/* Also of it, of output that it delivers: only for the next matching pull, since the present pulls
 * have had it. */
#define SX_IOF_AGAIN "shmix.iof.again"
/* One of the job's keys: the machine that the text depends on (launch/place/device_probe.h). */
#define SX_NSPACE_MACHINE "shmix.machine"

struct sx_nspace_options {
    bool no_data;
    uint8_t coming; /* enum sx_said */
    struct sx_some_number uid;
    struct sx_some_procs parent; /* has to be one process, which is stored as it is */
};

#endif
