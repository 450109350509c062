/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* shmix.h - read the published data and the events of a job in shared memory, without a copy.
 *
 *     PMIx_Init --> shmix_job_open --> shmix_key_find --> shmix_read_... as often as you like
 *
 * A job handle is a view of the shared memory of one namespace.  A key handle is one key of that
 * namespace, looked up once.  A read by rank is then a few loads from a read-only mapping.  It
 * makes no system call, takes no lock and allocates nothing.  It does no atomic read-modify-write,
 * except in the first read of each thread.  Any number of threads may read at once.
 *
 * What you can read: what the server has published.  That is what the host said about the job, and
 * what the processes of the job have committed.  Use PMIx_Get for values that this process keeps
 * for itself: those not yet committed, those put with PMIX_REMOTE or PMIX_INTERNAL, and those
 * stored with PMIx_Store_internal.  A process without a server reads its own data.
 *
 * Generations: a value never changes under a reader, because a new value is a new record.  From
 * time to time the server writes a new store without the old records.  That store is the next
 * generation, and the old one gets no more news.  A job stays in its generation until
 * shmix_job_refresh moves it.  Call shmix_job_refresh after a fence: it costs one load when there
 * is nothing new.  A generation that the job has left is unmapped.  If a read gave out an address
 * in it, it stays mapped until shmix_job_unpin.
 *
 * Status: every function returns PMIX_SUCCESS or a negative PMIX_ERR_ code.  Each declaration
 * lists its own codes.  Two are common to all functions and not repeated:
 *   PMIX_ERR_BAD_PARAM  a required pointer is NULL
 *   PMIX_ERR_INIT       PMIx_Init was not called, or PMIx_Finalize ended the handle
 *
 * Results (@ret_...) are written on success only.  There is one exception: shmix_job_open and
 * shmix_events_open set their handle to NULL when they fail.  Closing NULL does nothing.
 *
 * Threads: any thread may call any function, also while other threads read, unless the declaration
 * says otherwise.  So may callbacks and event handlers, as <pmix.h> says. */
#ifndef SHMIX_H
#define SHMIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A job ------------------------------------------------------------------------------------ */

typedef struct shmix_job shmix_job_t;

/* Open the newest generation of a namespace.
 *
 * @nspace   the namespace; NULL or "" means this process's namespace
 * @ret_job  the handle
 *
 * Status: PMIX_ERR_BAD_PARAM         @nspace is longer than PMIX_MAX_NSLEN
 *         PMIX_ERR_NOT_FOUND         there is no such namespace
 *         PMIX_ERR_NOT_SUPPORTED     @nspace is a connected one: open those of its members
 *         PMIX_ERR_LOST_CONNECTION   the server is gone
 *         PMIX_ERR_OUT_OF_RESOURCE   no memory or no descriptor
 *         any other error of a request to the server
 * Owner:  the caller, until shmix_job_close
 * Thread: any
 * Cost:   memory only for this process's namespace, a message to the server for another one.  A
 *         namespace that the server does not know is searched for through /proc, among the jobs
 *         that this user has in the other servers of the node.  That search looks at the
 *         descriptors of all processes of the user. */
PMIX_EXPORT pmix_status_t shmix_job_open(const char *nspace, shmix_job_t **ret_job);

/* Close a job and all its keys.  Views read through it are no longer valid.
 *
 * @job  the handle, also after PMIx_Finalize
 *
 * Thread: any, while no other call uses the job */
PMIX_EXPORT pmix_status_t shmix_job_close(shmix_job_t *job);

/* Move a job and all its keys to the newest generation.  Views from older ones stay valid.
 *
 * @job  the handle; on failure it stays in the generation it was in
 *
 * Status: PMIX_ERR_NOT_FOUND   the namespace has ended.  If it is registered again under the same
 *                              name, that is its next generation
 *         any other status of shmix_job_open
 * Thread: any, also while others read
 * Cost:   one load and no system call if the job is already there */
PMIX_EXPORT pmix_status_t shmix_job_refresh(shmix_job_t *job);

/* Unmap the generations that the job has left but that views still point into.  Views from before
 * the last shmix_job_refresh are no longer valid.
 *
 * @job  the handle
 *
 * Thread: any, while no other call uses the job */
PMIX_EXPORT pmix_status_t shmix_job_unpin(shmix_job_t *job);

/* Tell which generation a job is in.
 *
 * @job             the handle
 * @ret_generation  the number; it differs once shmix_job_refresh has moved the job */
PMIX_EXPORT pmix_status_t shmix_job_generation(const shmix_job_t *job, uint64_t *ret_generation);

/* ---- A key ------------------------------------------------------------------------------------ */

typedef struct shmix_key shmix_key_t;

/* What a key describes.  It decides what @rank means in a read. */
typedef enum shmix_realm {
    SHMIX_JOB = 0,    /* the job (PMIX_RANK_WILDCARD) and its processes (their ranks) */
    SHMIX_NODE = 1,   /* the nodes, by PMIX_NODEID */
    SHMIX_APP = 2,    /* the applications, by PMIX_APPNUM */
    SHMIX_SESSION = 3 /* the sessions: 0 is the job's own, PMIX_SESSION_ID says which is which */
} shmix_realm_t;

/* Get a handle for a key.  The key may have no value yet: reads find a value once it is stored.
 *
 * @job      the job
 * @realm    what the key describes
 * @key      its name
 * @ret_key  the handle; the same key gives the same handle
 *
 * Status: PMIX_ERR_BAD_PARAM         @key is empty or longer than PMIX_MAX_KEYLEN, or there is no
 *                                    such @realm
 *         PMIX_ERR_OUT_OF_RESOURCE   no memory
 * Owner:  the job; the handle ends with it
 * Thread: any, also while others read */
PMIX_EXPORT pmix_status_t shmix_key_find(shmix_job_t *job, shmix_realm_t realm, const char *key,
                                         const shmix_key_t **ret_key);

/* ---- What there is ---------------------------------------------------------------------------- */

/* List the names of all keys that have a value, for the job or for any rank.
 *
 * @job        the job, in the generation it is in
 * @realm      which keys
 * @ret_keys   the names, sorted, in a NULL-terminated array; NULL when there are none
 * @ret_count  how many
 *
 * Status: PMIX_ERR_BAD_PARAM         there is no such @realm
 *         PMIX_ERR_OUT_OF_RESOURCE   no memory
 * Owner:  the caller, who gives the array to PMIx_Argv_free
 * Thread: any, also while others read
 * Cost:   a copy of each name */
PMIX_EXPORT pmix_status_t shmix_job_keys(shmix_job_t *job, shmix_realm_t realm, char ***ret_keys,
                                         size_t *ret_count);

/* Find the next rank that has a value.  This loop visits them all:
 *
 *     for (pmix_rank_t rank = 0; shmix_key_next(key, rank, &rank) == PMIX_SUCCESS; rank++)
 *
 * @key       the key
 * @from      the first rank (node, application, session) to look at
 * @ret_rank  the first one from @from on that has a value.  The job's own value
 *            (PMIX_RANK_WILDCARD) does not count
 *
 * Status: PMIX_ERR_NOT_FOUND        there is none
 *         PMIX_ERR_UNPACK_FAILURE   the shared memory contradicts itself
 * Cost:   a few loads for each rank in between; no allocation, no lock, no system call */
PMIX_EXPORT pmix_status_t shmix_key_next(const shmix_key_t *key, pmix_rank_t from,
                                         pmix_rank_t *ret_rank);

/* ---- Reading ---------------------------------------------------------------------------------- */

/* All reads share these rules.  A read looks at exactly one place, the one of @rank.
 *
 * @key   the key
 * @rank  the process, or the node, application or session, as the key's realm says
 *
 * Status: PMIX_ERR_NOT_FOUND        nothing is stored there
 *         PMIX_ERR_TYPE_MISMATCH    the value has another type
 *         PMIX_ERR_UNPACK_FAILURE   the shared memory contradicts itself
 * Thread: any; no read may be under way when PMIx_Finalize begins
 * Cost:   a few loads; no allocation, no lock, no system call */

/* Read an unsigned integer of any width.  Ranks and states are unsigned integers too. */
PMIX_EXPORT pmix_status_t shmix_read_u64(const shmix_key_t *key, pmix_rank_t rank,
                                         uint64_t *ret_number);

/* Read a signed integer of any width, PMIX_PID, PMIX_TIME or PMIX_STATUS. */
PMIX_EXPORT pmix_status_t shmix_read_i64(const shmix_key_t *key, pmix_rank_t rank,
                                         int64_t *ret_number);

/* Read a PMIX_FLOAT or PMIX_DOUBLE. */
PMIX_EXPORT pmix_status_t shmix_read_f64(const shmix_key_t *key, pmix_rank_t rank,
                                         double *ret_number);

/* Read a PMIX_BOOL. */
PMIX_EXPORT pmix_status_t shmix_read_bool(const shmix_key_t *key, pmix_rank_t rank, bool *ret_flag);

/* The reads below return views: pointers into the shared memory, which the kernel protects from
 * writing.  A view stays valid until the first of these:
 *   shmix_job_unpin, after a shmix_job_refresh has moved the job
 *   shmix_job_close
 *   PMIx_Finalize
 * Nobody frees a view. */

/* Read a PMIX_STRING.
 *
 * @ret_text  the string with its NUL; NULL if NULL was stored
 * @ret_len   its length without the NUL; may be NULL */
PMIX_EXPORT pmix_status_t shmix_read_string(const shmix_key_t *key, pmix_rank_t rank,
                                            const char **ret_text, size_t *ret_len);

/* Read a PMIX_BYTE_OBJECT, a PMIX_REGEX or a compressed value, as it is stored.
 *
 * @ret_bytes  the bytes; NULL if there are none
 * @ret_size   how many; may be NULL */
PMIX_EXPORT pmix_status_t shmix_read_bytes(const shmix_key_t *key, pmix_rank_t rank,
                                           const void **ret_bytes, size_t *ret_size);

/* Read a PMIX_DATA_ARRAY as a C array.  This works for types whose bytes are their value: numbers,
 * PMIX_PROC, PMIX_PROC_NSPACE and PMIX_TIMEVAL.
 *
 * @type          the type of the elements
 * @ret_elements  the first element; NULL if there are none
 * @ret_count     how many; must not be NULL
 *
 * Status: PMIX_ERR_NOT_SUPPORTED   elements of another kind (use PMIx_Get) */
PMIX_EXPORT pmix_status_t shmix_read_array(const shmix_key_t *key, pmix_rank_t rank,
                                           pmix_data_type_t type, const void **ret_elements,
                                           size_t *ret_count);

/* A value of any type that has a view. */
typedef struct shmix_value {
    pmix_data_type_t type;         /* as stored */
    pmix_data_type_t element_type; /* the type @data points at; PMIX_UNDEF for a scalar */
    union {                        /* a scalar */
        uint64_t u64;              /* unsigned types */
        int64_t i64;               /* signed types */
        double f64;                /* PMIX_FLOAT and PMIX_DOUBLE */
        bool flag;                 /* PMIX_BOOL */
    } number;
    const void *data; /* a string, bytes or elements; NULL if there are none */
    size_t count;     /* how many: characters without the NUL, bytes or elements */
} shmix_value_t;

/* Read any value that has a view: scalars, strings, byte objects, and the arrays that
 * shmix_read_array reads.  A single PMIX_PROC, PMIX_PROC_NSPACE or PMIX_TIMEVAL is an array of 1.
 *
 * @ret_value  the type, and the number or the view
 *
 * Status: PMIX_ERR_NOT_SUPPORTED   a value of another type (use PMIx_Get) */
PMIX_EXPORT pmix_status_t shmix_read_value(const shmix_key_t *key, pmix_rank_t rank,
                                           shmix_value_t *ret_value);

/* ---- Events ----------------------------------------------------------------------------------- */

/* Event raised for a process's own handlers when events are lost.  Usually the process read too
 * slowly, and the server no longer keeps what it missed.
 *
 * SHMIX_EVENTS_LOST_COUNT  PMIX_UINT64: how many events are lost
 * SHMIX_EVENTS_LOST_OWN    PMIX_BOOL, true: they are events that this process published.
 *                          PMIx_Notify_event had accepted them.  Then the server had no memory for
 *                          them, or the host did not carry them to other nodes */
#define SHMIX_ERR_EVENTS_LOST (PMIX_EXTERNAL_ERR_BASE - 5001)
#define SHMIX_EVENTS_LOST_COUNT "shmix.evlost"
#define SHMIX_EVENTS_LOST_OWN "shmix.evlost.own"

/* Event for a process whose committed values the server could not keep: a limit of the server is
 * reached (ulimit -f, memory).  The next PMIx_Fence or PMIx_Commit of that process returns
 * PMIX_ERR_OUT_OF_RESOURCE as well.  Only handlers that name the code receive it, once per commit.
 *
 * SHMIX_VALUES_LOST_COUNT  PMIX_SIZE: how many values of the commit are lost */
#define SHMIX_ERR_VALUES_LOST (PMIX_EXTERNAL_ERR_BASE - 5003)
#define SHMIX_VALUES_LOST_COUNT "shmix.vallost"

/* uint64, an info of the callback of PMIx_IOF_pull: so many bytes of output are lost since the last
 * callback of this pull, of whichever process and channel.  The pull had no room for them: its
 * directives let them go (PMIX_IOF_DROP_OLDEST, PMIX_IOF_DROP_NEWEST), or for 10 seconds this
 * process had read nothing. */
#define SHMIX_IOF_LOST "shmix.iof.lost"

/* Names of RFC0002 that the headers of the Standard no longer have.
 *
 * PMIX_EVENT_JOB_LEVEL and PMIX_EVENT_ENVIRO_LEVEL are bool, given when a handler is registered.
 * They choose which events it gets; one of them alone excludes the other's events.  The default is
 * the events of the job and, of codes of the system that the handler names, those of the
 * environment.  Events of the environment are those that the resource manager reports
 * about the system (PMIX_SYSTEM_EVENT) and that are addressed to no job. */
#ifndef PMIX_EVENT_JOB_LEVEL
#define PMIX_EVENT_JOB_LEVEL "pmix.evjob"
#endif
#ifndef PMIX_EVENT_ENVIRO_LEVEL
#define PMIX_EVENT_ENVIRO_LEVEL "pmix.evenv"
#endif
#ifndef PMIX_EVENT_ORDER_PREPEND
#define PMIX_EVENT_ORDER_PREPEND PMIX_EVENT_HDLR_PREPEND
#endif

/* A reader of the events of this process's job.  It shows everything that the server publishes to
 * the job, in the server's order, including events of this process.  It does not show events whose
 * custom range addresses others.  It needs no handler and no thread, and nobody waits for it.
 *
 * Losses: the ring holds about a megabyte of events.  A slow reader asks the server for what the
 * ring no longer has.  What the server no longer keeps is lost, and the reader is told how many
 * events that was.
 *
 * Views: an event is copied once, from the ring into the reader.  The copy is checked before it is
 * shown, so a writer that overtakes the reader cannot tear it.  Views of an event point into the
 * copy and are valid until the next call on the same reader.
 *
 * Threads: a reader belongs to one thread at a time.  Any number of readers may be open.
 * PMIx_Finalize ends them all: they return PMIX_ERR_INIT from then on and must still be closed.
 *
 * Cost: reading an event that is there takes no lock, no allocation, no system call and no atomic
 * read-modify-write.  An event of more than 4000 bytes costs one message to the server.  So do
 * events that the ring no longer has: one message for as many as fit into 8 KiB. */
typedef struct shmix_events shmix_events_t;

typedef struct shmix_event {
    uint64_t number; /* counts the job's events from 1, the same in every reader */
    pmix_status_t code;
    pmix_data_range_t range; /* as published */
    bool non_default;        /* not for default handlers (PMIX_EVENT_NON_DEFAULT) */
    bool environment;        /* about the environment, not about a job */
    pmix_proc_t source;      /* as the server knows it; PMIX_RANK_UNDEF: the resource manager */
    size_t target_count;     /* processes that a custom range addresses */
    size_t affected_count;   /* processes that the event is about */
    size_t info_count;
    uint64_t lost_count; /* with SHMIX_ERR_EVENTS_LOST: how many, starting at number */
    const void *procs;   /* this and the rest: for the functions below */
    size_t procs_size;
    const void *infos;
    size_t infos_size;
} shmix_event_t;

#define SHMIX_EVENTS_OLDEST UINT64_C(0) /* the oldest event that is still kept */
#define SHMIX_EVENTS_NOW UINT64_MAX     /* the next event to be published */
#define SHMIX_FOREVER UINT64_MAX

/* Open a reader.
 *
 * @from        where to begin: SHMIX_EVENTS_OLDEST, SHMIX_EVENTS_NOW, or the number of an event.
 *              Events from that number on that the server no longer keeps are reported as lost
 * @codes       show only these codes and sleep through all others
 * @ncodes      how many; 0: all codes
 * @ret_events  the reader
 *
 * Status: PMIX_ERR_UNREACH           this process has no server
 *         PMIX_ERR_LOST_CONNECTION   the server is gone
 *         PMIX_ERR_OUT_OF_RESOURCE   no memory
 * Owner:  the caller, until shmix_events_close */
PMIX_EXPORT pmix_status_t shmix_events_open(uint64_t from, const pmix_status_t codes[],
                                            size_t ncodes, shmix_events_t **ret_events);

/* Close a reader.
 *
 * @events  the reader, also after PMIx_Finalize
 *
 * Thread: any, while no other call uses the reader */
PMIX_EXPORT pmix_status_t shmix_events_close(shmix_events_t *events);

/* Read the next event, if there is one.
 *
 * @events     the reader
 * @ret_event  the event; its views are valid until the next call on the reader
 *
 * Status: PMIX_ERR_NOT_FOUND         no event yet
 *         SHMIX_ERR_EVENTS_LOST      @ret_event has the number and lost_count of what is lost, of
 *                                    all codes; the next call goes on after it
 *         PMIX_ERR_LOST_CONNECTION   the server is gone and had the rest of this event; the next
 *                                    call goes on after it
 *         PMIX_ERR_OUT_OF_RESOURCE   no memory for an event that the ring no longer has; the next
 *                                    call asks for it again
 *         PMIX_ERR_UNPACK_FAILURE    what the server wrote contradicts itself
 * Thread: one at a time per reader */
PMIX_EXPORT pmix_status_t shmix_events_next(shmix_events_t *events, shmix_event_t *ret_event);

/* Read the next event; sleep until there is one.  Events of other codes than the reader's rarely
 * wake it.
 *
 * @events      the reader
 * @timeout_ns  how long to sleep at most, in nanoseconds; SHMIX_FOREVER: without limit
 * @ret_event   as for shmix_events_next
 *
 * Status: as shmix_events_next, with these differences:
 *         PMIX_ERR_TIMEOUT           no event in that time (instead of PMIX_ERR_NOT_FOUND)
 *         PMIX_ERR_LOST_CONNECTION   also: the server is gone and everything is read
 *         PMIX_ERR_NOT_AVAILABLE     this process is a forked child, which cannot wait
 * Thread: one at a time per reader */
PMIX_EXPORT pmix_status_t shmix_events_wait(shmix_events_t *events, uint64_t timeout_ns,
                                            shmix_event_t *ret_event);

/* View one info of an event: the one at an index, or the first one with a key.  The time of an
 * event is its PMIX_EVENT_TIMESTAMP, if the publisher gave one.
 *
 * @event      the event
 * @index      counts from 0
 * @key        the key to look for
 * @ret_key    the key of the info; may be NULL
 * @ret_value  its value
 *
 * Status: PMIX_ERR_NOT_FOUND        no such info
 *         PMIX_ERR_NOT_SUPPORTED    the value has no view (see shmix_read_value); @ret_key is
 *                                   written all the same
 *         PMIX_ERR_UNPACK_FAILURE   what the server wrote contradicts itself */
PMIX_EXPORT pmix_status_t shmix_event_info(const shmix_event_t *event, size_t index,
                                           const char **ret_key, shmix_value_t *ret_value);
PMIX_EXPORT pmix_status_t shmix_event_find(const shmix_event_t *event, const char *key,
                                           shmix_value_t *ret_value);

/* Get one process that an event is about (affected) or that its custom range addresses (target).
 *
 * @event     the event
 * @index     counts from 0
 * @ret_proc  the process; PMIX_RANK_WILDCARD means all of its namespace
 *
 * Status: PMIX_ERR_NOT_FOUND        no such process
 *         PMIX_ERR_UNPACK_FAILURE   what the server wrote contradicts itself */
PMIX_EXPORT pmix_status_t shmix_event_affected(const shmix_event_t *event, size_t index,
                                               pmix_proc_t *ret_proc);
PMIX_EXPORT pmix_status_t shmix_event_target(const shmix_event_t *event, size_t index,
                                             pmix_proc_t *ret_proc);

/* uint32_t, for PMIx_server_init: how many events without a job the server keeps for those who come
 * late.  The environment can set it too, under either of these names.  The default is 512. */
#define SHMIX_SERVER_CACHE_SIZE "pmix.srv.cache.sz"
#ifndef PMIX_SERVER_CACHE_SIZE
#define PMIX_SERVER_CACHE_SIZE SHMIX_SERVER_CACHE_SIZE
#endif

/* ---- Connecting processes --------------------------------------------------------------------- */

/* Several processes, of one job or of several, become one namespace: each gets the new namespace's
 * name and a rank in it.  The new name stands for its members wherever a namespace stands: in
 * PMIx_Fence, PMIx_Get, PMIx_Notify_event (a custom range), PMIx_Connect and so on.  It is gone
 * when all of them have disconnected.
 *
 * PMIx_Connect and PMIx_Disconnect do the same and do not return the name: PMIx_Get of
 * SHMIX_CONNECTED does.  All forms meet in one operation.  A program that defines PMIX_RFC0003
 * before it includes <pmix.h> gets the forms below under the names of the RFC, whose callback takes
 * the rank as an int. */

/* Names of RFC0003 that the headers of the Standard do not have.  They are directives of connect;
 * the ones for disconnect say so.
 *
 * PMIX_CONNECT_ID                  char*, at most PMIX_MAX_NSLEN bytes: callers with another id, or
 *                                  without one, mean another operation.  Disconnect: the id that
 *                                  was given to connect
 * PMIX_CONNECT_OPTIONAL            bool: who ends without having called is not waited for, and that
 *                                  is no error; enough if one caller says so
 * PMIX_CONNECT_EARLY_TERM_ALLOWED  bool: a member may end without having disconnected; enough if one
 *                                  caller says so
 * PMIX_CONNECT_XCHG_ONLY           bool: no new namespace, and nothing to disconnect; enough if one
 *                                  caller says so
 * PMIX_CONNECT_NOTIFY_EACH         bool: the other processes get the event PMIX_PROC_HAS_CONNECTED
 *                                  for this caller, and for each that calls after it.  Disconnect:
 *                                  they get PMIX_PROC_HAS_DISCONNECTED for this caller
 * PMIX_CONNECT_NOTIFY_REQ          bool: the processes that have not called yet get the event
 *                                  PMIX_CONNECT_REQUESTED.  Its source is this caller, and what they
 *                                  need to call is in it: SHMIX_CONNECT_PROCS and PMIX_CONNECT_ID */
#ifndef PMIX_CONNECT_ID
#define PMIX_CONNECT_ID "pmix.cnt.id"
#endif
#ifndef PMIX_CONNECT_OPTIONAL
#define PMIX_CONNECT_OPTIONAL "pmix.cnt.opt"
#endif
#ifndef PMIX_CONNECT_EARLY_TERM_ALLOWED
#define PMIX_CONNECT_EARLY_TERM_ALLOWED "pmix.cnct.eterm"
#endif
#ifndef PMIX_CONNECT_XCHG_ONLY
#define PMIX_CONNECT_XCHG_ONLY "pmix.cnt.xchg"
#endif
#ifndef PMIX_CONNECT_NOTIFY_EACH
#define PMIX_CONNECT_NOTIFY_EACH "pmix.cnct.each"
#endif
#ifndef PMIX_CONNECT_NOTIFY_REQ
#define PMIX_CONNECT_NOTIFY_REQ "pmix.cnct.req"
#endif
#ifndef PMIX_PROC_HAS_CONNECTED
#define PMIX_PROC_HAS_CONNECTED (-149)
#endif
#ifndef PMIX_CONNECT_REQUESTED
#define PMIX_CONNECT_REQUESTED (-150)
#endif
#ifndef PMIX_PROC_HAS_DISCONNECTED
#define PMIX_PROC_HAS_DISCONNECTED (PMIX_EXTERNAL_ERR_BASE - 5002)
#endif

/* pmix_data_array_t* of pmix_proc_t, in the event PMIX_CONNECT_REQUESTED: what to give to connect. */
#define SHMIX_CONNECT_PROCS "shmix.cnct.procs"

/* pmix_data_array_t* of pmix_proc_t, for PMIx_Get: the connected namespaces that a process is in,
 * each with the rank that the process has there, in the order in which they were made.  Without any
 * it is PMIX_ERR_NOT_FOUND.  pmix_proc_t* in the events of a member's end: what it was there. */
#define SHMIX_CONNECTED "pmix.shmix.cnct"

/* Connect: returns when all of @procs have called it.
 *
 * @procs        the processes, this one among them, in any order; PMIX_RANK_WILDCARD means all of a
 *               namespace.  Who lists all ranks does not meet who says PMIX_RANK_WILDCARD
 * @nprocs       how many; at least 1
 * @info         directives: those above, and PMIX_TIMEOUT
 * @ninfo        how many
 * @nspace       the new name, at most PMIX_MAX_NSLEN bytes and a NUL; may be NULL.  Empty with
 *               PMIX_CONNECT_XCHG_ONLY
 * @ret_newrank  this process's rank in it; may be NULL.  Ranks count from 0, by namespace and rank of
 *               the members.  PMIX_RANK_UNDEF with PMIX_CONNECT_XCHG_ONLY
 *
 * Status: PMIX_ERR_BAD_PARAM           no processes, this one not among them, or a bad directive
 *         PMIX_ERR_NOT_FOUND           a namespace that nobody knows, or a rank beyond its job's
 *         PMIX_ERR_LOST_CONNECTION     one of them was killed before all had called
 *         PMIX_ERR_PROC_TERM_WO_SYNC   one of them has finalized before all had called
 *         PMIX_ERR_TIMEOUT             the time limit of one of them has passed
 *         PMIX_ERR_NOT_SUPPORTED       some are on other nodes, and the host cannot connect them
 *         PMIX_ERR_OUT_OF_RESOURCE     more operations than SHMIX_SERVER_COLLECTIVES, or no memory
 *         PMIX_ERR_UNREACH             there is no server
 * Thread: any; in a callback as other calls that wait */
PMIX_EXPORT pmix_status_t shmix_connect(const pmix_proc_t procs[], size_t nprocs,
                                        const pmix_info_t info[], size_t ninfo, char nspace[],
                                        pmix_rank_t *ret_newrank);

/* How a connect ended.
 *
 * @status  as shmix_connect
 * @nspace  the new name, until the callback returns; empty if there is none
 * @rank    this process's rank in it; PMIX_RANK_UNDEF if there is none
 * @cbdata  the caller's */
typedef void (*shmix_connect_cbfunc_t)(pmix_status_t status, char nspace[], pmix_rank_t rank,
                                       void *cbdata);

/* The same without waiting.
 *
 * @cbfunc  called once if the return value is PMIX_SUCCESS, else never
 * @cbdata  passed to it
 *
 * Status: PMIX_ERR_BAD_PARAM   also: no @cbfunc
 * Owner:  the caller keeps @procs and @info, and may change them at once */
PMIX_EXPORT pmix_status_t shmix_connect_nb(const pmix_proc_t procs[], size_t nprocs,
                                           const pmix_info_t info[], size_t ninfo,
                                           shmix_connect_cbfunc_t cbfunc, void *cbdata);

/* Disconnect: returns when all members have called it.  Until then they all stay members.
 *
 * @nspace  the name that connect gave
 * @info    directives: PMIX_CONNECT_NOTIFY_EACH and PMIX_TIMEOUT
 * @ninfo   how many
 *
 * Status: PMIX_ERR_NOT_FOUND           there is no such connected namespace (any more)
 *         PMIX_ERR_BAD_PARAM           this process is none of its members
 *         PMIX_ERR_LOST_CONNECTION     a member was killed before it called.  The others are members
 *                                      still, and may call again
 *         PMIX_ERR_PROC_TERM_WO_SYNC   a member has finalized before it called; likewise
 *         PMIX_ERR_TIMEOUT             the time limit of one of them has passed; likewise
 * Thread: as shmix_connect */
PMIX_EXPORT pmix_status_t shmix_disconnect(const char nspace[], const pmix_info_t info[],
                                           size_t ninfo);

/* The same without waiting; @cbfunc and @cbdata as in shmix_connect_nb. */
PMIX_EXPORT pmix_status_t shmix_disconnect_nb(const char nspace[], const pmix_info_t info[],
                                              size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* ---- Reading groups --------------------------------------------------------------------------- */

/* A handle of a connected namespace, a group or a process set, whose members are read where they lie,
 * in the shared memory of the node.  Any process of the node may read it, a member or not.
 *
 * A handle stays in one generation of its list, which never changes, until shmix_group_refresh or
 * shmix_group_wait moves it.  So everything that is read in between is from one moment, whoever
 * joins or leaves meanwhile.  Nobody who reads waits for those who change the list, or makes them
 * wait.  A rank never changes: the rank of a member that has left stays empty.
 *
 * A list that is gone can still be read as it was last.  A list that is made later under the same
 * name is another one. */
typedef struct shmix_group shmix_group_t;

typedef enum shmix_group_kind {
    SHMIX_GROUP_CONNECTED = 1,   /* a namespace that connect has made */
    SHMIX_GROUP_CONSTRUCTED = 2, /* a group */
    SHMIX_GROUP_SET = 3          /* a process set that the host has defined */
} shmix_group_kind_t;

/* All of it is of one generation. */
typedef struct shmix_group_facts {
    shmix_group_kind_t kind;
    uint32_t size;         /* how many ranks there are, those of members that have left included */
    uint32_t member_count; /* how many members: without those that have left */
    bool has_context_id;
    uint64_t generation; /* 1 when it was made; each change makes it greater */
    uint64_t context_id; /* 0 when it has none */
} shmix_group_facts_t;

/* Open the newest generation of a connected namespace or a group.
 *
 * @name       its name
 * @ret_group  the handle; NULL in case of an error
 *
 * Status: PMIX_ERR_BAD_PARAM         @name is empty or longer than PMIX_MAX_NSLEN
 *         PMIX_ERR_NOT_FOUND         there is none of that name
 *         PMIX_ERR_UNREACH           this process has no server
 *         PMIX_ERR_LOST_CONNECTION   the server is gone
 *         PMIX_ERR_OUT_OF_RESOURCE   no memory or no descriptor
 *         any other error of a request to the server
 * Owner:  the caller, until shmix_group_close
 * Thread: any
 * Cost:   a message to the server for the first list that a process looks at; then memory only */
PMIX_EXPORT pmix_status_t shmix_group_open(const char *name, shmix_group_t **ret_group);

/* The same for a process set.  Sets have names of their own: a group may be called as a set is.
 *
 * @name  its name, at most PMIX_MAX_KEYLEN bytes */
PMIX_EXPORT pmix_status_t shmix_set_open(const char *name, shmix_group_t **ret_group);

/* Close a handle.
 *
 * @group  the handle, also after PMIx_Finalize
 *
 * Thread: any, while no other call uses the handle */
PMIX_EXPORT pmix_status_t shmix_group_close(shmix_group_t *group);

/* Move a handle to the newest generation.
 *
 * @group  the handle; on failure it stays in the generation it was in
 *
 * Status: PMIX_ERR_NOT_FOUND   the list is gone
 *         any other status of shmix_group_open
 * Thread: any, also while others read
 * Cost:   a few loads and no system call if nothing has changed, a lock of this process if something
 *         has.  Now and then the server writes its lists anew, in other memory: the next call asks it
 *         for that, with one message */
PMIX_EXPORT pmix_status_t shmix_group_refresh(shmix_group_t *group);

/* Sleep until the list has a newer generation than @generation, and move the handle to the newest.
 * Changes of other lists may wake the caller, who sleeps again.
 *
 * @group       the handle
 * @generation  the one that is known
 * @timeout_ns  how long to sleep at most, in nanoseconds; SHMIX_FOREVER: without limit
 *
 * Status: PMIX_ERR_TIMEOUT           nothing newer in that time
 *         PMIX_ERR_NOT_FOUND         the list is gone
 *         PMIX_ERR_LOST_CONNECTION   the server is gone
 *         PMIX_ERR_NOT_AVAILABLE     this process is a forked child, which cannot wait
 *         PMIX_ERR_NOT_SUPPORTED     the caller is the thread of a server in this process
 *         any other status of shmix_group_refresh
 * Thread: any, several at once; none may be inside when PMIx_Finalize begins
 * Cost:   as shmix_group_refresh, and one system call to sleep */
PMIX_EXPORT pmix_status_t shmix_group_wait(shmix_group_t *group, uint64_t generation,
                                           uint64_t timeout_ns);

/* The reads below share these rules.
 *
 * Status: PMIX_ERR_UNPACK_FAILURE   the shared memory contradicts itself
 * Thread: any; no read may be under way when PMIx_Finalize begins
 * Cost:   a few loads, and for a search their logarithm; no allocation, no lock, no system call */

/* Tell what is known of the list as a whole. */
PMIX_EXPORT pmix_status_t shmix_group_info(const shmix_group_t *group,
                                           shmix_group_facts_t *ret_info);

/* Tell which process has a rank.
 *
 * @rank      a rank in the list, below its size
 * @ret_proc  the process
 *
 * Status: PMIX_ERR_NOT_FOUND   there is no such rank, or its member has left */
PMIX_EXPORT pmix_status_t shmix_group_member(const shmix_group_t *group, pmix_rank_t rank,
                                             pmix_proc_t *ret_proc);

/* Tell which rank a process has, and so whether it is a member.
 *
 * @proc      the process; NULL: this one
 * @ret_rank  its rank in the list
 *
 * Status: PMIX_ERR_NOT_FOUND   it is no member */
PMIX_EXPORT pmix_status_t shmix_group_rank(const shmix_group_t *group, const pmix_proc_t *proc,
                                           pmix_rank_t *ret_rank);

/* ---- Servers ---------------------------------------------------------------------------------- */

/* Any integer, for PMIx_server_init: after how many seconds a PMIx_Get without PMIX_TIMEOUT ends
 * with PMIX_ERR_TIMEOUT.  It counts for a key of a process of this node that has committed, but not
 * this key.  0 means no limit.  The default is the environment's SHMIX_GET_TIMEOUT, which may have
 * decimals, or else 2 seconds. */
#define SHMIX_SERVER_GET_TIMEOUT "shmix.srv.get.tmout"

/* bool, for PMIx_server_init: where clients find the server.  The default is the environment's
 * SHMIX_RENDEZVOUS ("directory" or "abstract"), or else abstract.
 *
 * true   at a socket in a private directory under PMIX_SERVER_TMPDIR.  If the server is killed, the
 *        directory stays until the next server of that user removes it.  A host of root whose ranks
 *        belong to another user gives that user as PMIX_USERID: others are refused
 * false  at an abstract socket, which leaves nothing behind.  A process in another network
 *        namespace can connect if it has the same user and user namespace as the server, or if it
 *        inherits the server's descriptor, as the ranks of shmix run do */
#define SHMIX_SERVER_DIRECTORY "shmix.srv.dir"

/* char*, for PMIx_server_init: on which NUMA nodes the shared memory lies.  The default is the
 * environment's SHMIX_NUMA, or else auto.  On a machine with one node there is nothing to choose.
 *
 * "auto"        what processes publish is spread over the nodes that have CPUs; a process's own lane
 *               lies on the node to which the process is bound; all else lies on the server's node
 * "local"       all but such lanes lies on the server's node, and the server's thread stays there
 * "interleave"  all but such lanes is spread
 *
 * A process that is bound to no one node has its lane on the server's.  Memory comes from another
 * node when one is full.
 *
 * Status of PMIx_server_init: PMIX_ERR_BAD_PARAM      another word
 *                             PMIX_ERR_NOT_SUPPORTED  "replicate", a copy on each node */
#define SHMIX_SERVER_NUMA "shmix.srv.numa"

/* bool, for PMIx_server_init: serve ranks that carry another PMIx library (OpenPMIx).  The default
 * is the environment's SHMIX_GATEWAY ("1" or "0"), or else false.
 *
 * true   the server listens on the loopback interface, and PMIx_server_setup_fork names that port to
 *        the ranks.  The first connection starts the program shmix-gateway, which is installed with
 *        this library.  It runs as PMIX_USERID, or else as the server's user, serves ranks of that
 *        user alone, and ends with the server.  The host neither gets a signal from it nor has to
 *        reap it, unless the host is a child subreaper (prctl(2)): then the program becomes its child
 * false  such ranks find no server.  `shmix gateway` can still start them
 *
 * Status of PMIx_server_init: PMIX_ERR_NOT_FOUND    there is no shmix-gateway beside the library
 *                             PMIX_ERR_BAD_PARAM    SHMIX_GATEWAY has another value
 *                             others                no port can be opened */
#define SHMIX_SERVER_GATEWAY "shmix.srv.gateway"

/* ---- Waiting ---------------------------------------------------------------------------------- */

/* Get a descriptor for poll(2), select(2) or epoll(7).  It becomes readable when there is something
 * to do: an event for an open reader (of that reader's codes), or, with PMIX_EXTERNAL_PROGRESS, a
 * callback.
 *
 * When it is readable, call PMIx_Progress and read each reader until PMIX_ERR_NOT_FOUND.  After
 * that it is quiet again.  It is readable at first, so a program that does this each time misses
 * nothing.  Sometimes there is nothing to find.
 *
 * @ret_fd  the descriptor; each process has one
 *
 * Status: PMIX_ERR_TIMEOUT           the server did not answer for 30 seconds
 *         PMIX_ERR_OUT_OF_RESOURCE   no descriptor is left
 *         PMIX_ERR_LOST_CONNECTION   the server is gone
 *         any other error of a request to the server
 * Owner:  the library, which closes it in PMIx_Finalize.  Do not read, write or close it.  Take it
 *         out of any poll set before PMIx_Finalize
 * Thread: any; a forked child has no such descriptor
 * Cost:   the server writes to it at most once between two such rounds, and never for a process
 *         that did not ask for it */
PMIX_EXPORT pmix_status_t shmix_fd(int *ret_fd);

#ifdef __cplusplus
}
#endif

#endif
