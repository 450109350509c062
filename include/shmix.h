/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* shmix.h - read what is published for a job where it lies, without a copy.
 *
 *     PMIx_Init --> shmix_job_open --> shmix_key_find --> shmix_read_... as often as you like
 *
 * A job handle is a view of one namespace's shared memory; a key handle is one key of it, looked
 * up once.  A read by rank is a few loads from a read-only mapping: no allocation, no lock, no
 * system call, no atomic read-modify-write (but one in the first read of a thread), and any number
 * of threads at once.
 *
 * What is read is what the server has published: what the host said of the job and what its
 * processes have committed.  Values that this process only keeps for itself (put and not
 * committed, PMIX_REMOTE, PMIX_INTERNAL, PMIx_Store_internal) are PMIx_Get's to find.  A process
 * without a server reads its own data.
 *
 * Generations: a value never changes under a reader; a new one is a new record.  Now and then
 * the server writes the whole store anew, without the old records: that is the next generation,
 * and the old one gets no more news.  Reads stay in the generation that the job is in until
 * shmix_job_refresh moves the job.  Call it after a fence: it costs one load when there is nothing
 * new.  A generation that the job has left is unmapped, unless a read gave an address in it: then
 * it stays until shmix_job_unpin.
 *
 * Every function returns PMIX_SUCCESS or a negative PMIX_ERR_ code, among them PMIX_ERR_BAD_PARAM
 * for a NULL where something is needed and PMIX_ERR_INIT before PMIx_Init and for handles from
 * before PMIx_Finalize.  Results are written on success only, but for the handles of shmix_job_open
 * and shmix_events_open, which are NULL after a failure; to close NULL does nothing. */
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

/* Open the newest generation of @nspace (NULL or "": the own one).  Costs nothing but memory for
 * the own namespace, a message to the server for others.  A namespace that the server does not know
 * is looked for among the jobs of this process's user in the node's other servers, through /proc:
 * that costs a look at the descriptors of all processes of the user.  The handle is the caller's to
 * close.  Any thread; not from a callback.  Return: PMIX_ERR_NOT_FOUND when there is no such
 * namespace; PMIX_ERR_LOST_CONNECTION and other errors of a request; PMIX_ERR_OUT_OF_RESOURCE. */
PMIX_EXPORT pmix_status_t shmix_job_open(const char *nspace, shmix_job_t **ret_job);

/* Give back the handle with all its keys; views read through it end.  Also after PMIx_Finalize.
 * No other call on the job may be under way. */
PMIX_EXPORT pmix_status_t shmix_job_close(shmix_job_t *job);

/* Move the job and all its keys to the newest generation; views from the older ones stay valid.
 * One load and no system call when the job is there already.  Any thread, beside reads.
 * Return: as shmix_job_open, and then the job stays where it was: PMIX_ERR_NOT_FOUND when its
 * namespace has ended (one that is registered again under the name is the next generation). */
PMIX_EXPORT pmix_status_t shmix_job_refresh(shmix_job_t *job);

/* Give back the generations that the job has left and that views point into: these views, from
 * before the last shmix_job_refresh, end.  No other call on the job may be under way. */
PMIX_EXPORT pmix_status_t shmix_job_unpin(shmix_job_t *job);

/* The number of the generation that the job is in: it differs after a shmix_job_refresh that has
 * moved the job. */
PMIX_EXPORT pmix_status_t shmix_job_generation(const shmix_job_t *job, uint64_t *ret_generation);

/* ---- A key ------------------------------------------------------------------------------------ */

typedef struct shmix_key shmix_key_t;

/* Of what a key tells, and so what the reads' @rank means. */
typedef enum shmix_realm {
    SHMIX_JOB = 0,    /* the job (PMIX_RANK_WILDCARD) and its processes (their ranks) */
    SHMIX_NODE = 1,   /* the nodes, by PMIX_NODEID */
    SHMIX_APP = 2,    /* the applications, by PMIX_APPNUM */
    SHMIX_SESSION = 3 /* the sessions: 0 is the job's own, PMIX_SESSION_ID says which is which */
} shmix_realm_t;

/* A handle for @key, which need not be stored yet: reads find it as soon as it is.  It is the
 * job's and ends with it; the same key gives the same handle.  Any thread, beside reads.
 * Return: PMIX_ERR_BAD_PARAM for a key that is empty or longer than PMIX_MAX_KEYLEN;
 * PMIX_ERR_OUT_OF_RESOURCE. */
PMIX_EXPORT pmix_status_t shmix_key_find(shmix_job_t *job, shmix_realm_t realm, const char *key,
                                         const shmix_key_t **ret_key);

/* ---- What there is ---------------------------------------------------------------------------- */

/* The names of all keys of @realm of which something is stored, for the job or for any rank, sorted:
 * a NULL-terminated array of @ret_count strings that the caller gives to PMIx_Argv_free; NULL when
 * there are none.  In the generation that the job is in; costs a copy of each name.  Any thread,
 * beside reads.  Return: PMIX_ERR_OUT_OF_RESOURCE. */
PMIX_EXPORT pmix_status_t shmix_job_keys(shmix_job_t *job, shmix_realm_t realm, char ***ret_keys,
                                         size_t *ret_count);

/* The first rank (node, application, session) from @from on of which @key has a value; the job's own
 * (PMIX_RANK_WILDCARD) is none of them.  So this goes through all:
 *
 *     for (pmix_rank_t rank = 0; shmix_key_next(key, rank, &rank) == PMIX_SUCCESS; rank++)
 *
 * Looks at each place between: a few loads each, no allocation, no lock, no system call.  Any
 * thread.  Return: PMIX_ERR_NOT_FOUND: none; PMIX_ERR_UNPACK_FAILURE. */
PMIX_EXPORT pmix_status_t shmix_key_next(const shmix_key_t *key, pmix_rank_t from,
                                         pmix_rank_t *ret_rank);

/* ---- Reading ---------------------------------------------------------------------------------- */

/* All of them look into exactly one place, that of @rank, and return: PMIX_ERR_NOT_FOUND when
 * nothing is stored there; PMIX_ERR_TYPE_MISMATCH when it is of another type;
 * PMIX_ERR_UNPACK_FAILURE when the shared memory contradicts itself.  No call may be under way
 * when PMIx_Finalize begins. */

/* A value of any unsigned integer type, ranks and states included, whatever its width. */
PMIX_EXPORT pmix_status_t shmix_read_u64(const shmix_key_t *key, pmix_rank_t rank,
                                         uint64_t *ret_number);

/* A value of any signed integer type: numbers, PMIX_PID, PMIX_TIME, PMIX_STATUS. */
PMIX_EXPORT pmix_status_t shmix_read_i64(const shmix_key_t *key, pmix_rank_t rank,
                                         int64_t *ret_number);

/* PMIX_FLOAT or PMIX_DOUBLE. */
PMIX_EXPORT pmix_status_t shmix_read_f64(const shmix_key_t *key, pmix_rank_t rank,
                                         double *ret_number);

/* PMIX_BOOL. */
PMIX_EXPORT pmix_status_t shmix_read_bool(const shmix_key_t *key, pmix_rank_t rank, bool *ret_flag);

/* The views below point into the shared memory, which the kernel protects from writing.  They are
 * valid until the job's shmix_job_unpin after the next move, its shmix_job_close, or
 * PMIx_Finalize.  @ret_len and @ret_size may be NULL. */

/* PMIX_STRING, with its NUL; @ret_len is without.  A NULL string is NULL, 0. */
PMIX_EXPORT pmix_status_t shmix_read_string(const shmix_key_t *key, pmix_rank_t rank,
                                            const char **ret_text, size_t *ret_len);

/* PMIX_BYTE_OBJECT, PMIX_REGEX or a compressed one, as stored; no bytes are NULL, 0. */
PMIX_EXPORT pmix_status_t shmix_read_bytes(const shmix_key_t *key, pmix_rank_t rank,
                                           const void **ret_bytes, size_t *ret_size);

/* A PMIX_DATA_ARRAY whose elements are of @type, as a C array of it; no elements are NULL, 0.
 * Types whose bytes are their value can be read so: numbers, PMIX_PROC, PMIX_PROC_NSPACE,
 * PMIX_TIMEVAL.  Return: PMIX_ERR_NOT_SUPPORTED for other types (use PMIx_Get). */
PMIX_EXPORT pmix_status_t shmix_read_array(const shmix_key_t *key, pmix_rank_t rank,
                                           pmix_data_type_t type, const void **ret_elements,
                                           size_t *ret_count);

/* Whatever it is. */
typedef struct shmix_value {
    pmix_data_type_t type;         /* as stored */
    pmix_data_type_t element_type; /* of what @data points at; PMIX_UNDEF for a scalar */
    union {                        /* a scalar */
        uint64_t u64;              /* of unsigned types */
        int64_t i64;               /* of signed ones */
        double f64;                /* of PMIX_FLOAT and PMIX_DOUBLE */
        bool flag;                 /* of PMIX_BOOL */
    } number;
    const void *data; /* a string, bytes, elements; NULL where there are none */
    size_t count;     /* of them: characters without the NUL, bytes, elements */
} shmix_value_t;

/* Any value that has a view: scalars, strings, byte objects, arrays as for shmix_read_array, and
 * one PMIX_PROC, PMIX_PROC_NSPACE or PMIX_TIMEVAL as an array of 1.
 * Return: PMIX_ERR_NOT_SUPPORTED for other types (use PMIx_Get). */
PMIX_EXPORT pmix_status_t shmix_read_value(const shmix_key_t *key, pmix_rank_t rank,
                                           shmix_value_t *ret_value);

/* ---- Events ----------------------------------------------------------------------------------- */

/* Raised in a process whose reading of events was overtaken, for its own handlers: events are gone
 * that the server no longer keeps.  The info SHMIX_EVENTS_LOST_COUNT (PMIX_UINT64) says how many.
 * With SHMIX_EVENTS_LOST_OWN (PMIX_BOOL, true) they are events that this process has published:
 * PMIx_Notify_event had taken them, and then the server had no memory for them, or the host did not
 * carry them to other nodes. */
#define SHMIX_ERR_EVENTS_LOST (PMIX_EXTERNAL_ERR_BASE - 5001)
#define SHMIX_EVENTS_LOST_COUNT "shmix.evlost"
#define SHMIX_EVENTS_LOST_OWN "shmix.evlost.own"

/* Names of RFC0002 that the headers of the Standard no longer have.  bool, at the registration of a
 * handler: which events it wants.  Alone, one of the two keeps the other's events away; by default
 * it is the job's.  Events of the environment are what the resource manager reports of the system
 * (PMIX_SYSTEM_EVENT) and addresses to no job. */
#ifndef PMIX_EVENT_JOB_LEVEL
#define PMIX_EVENT_JOB_LEVEL "pmix.evjob"
#endif
#ifndef PMIX_EVENT_ENVIRO_LEVEL
#define PMIX_EVENT_ENVIRO_LEVEL "pmix.evenv"
#endif
#ifndef PMIX_EVENT_ORDER_PREPEND
#define PMIX_EVENT_ORDER_PREPEND PMIX_EVENT_HDLR_PREPEND
#endif

/* A reader of the events of the own job: all that the server publishes to it, in its order, those
 * of this process included, except what a custom range addresses to others.  It needs no handler
 * and no thread, and nobody waits for it: what it has not read when the ring comes around (after
 * about a megabyte of events) it asks the server for, and what that keeps no longer is lost to it:
 * it is told how much that was.
 *
 * An event is copied once, from the ring into the reader, and the copy is checked to be whole
 * before it is shown: a writer that overtakes the reader cannot change or tear what it looks at.
 * Views point into that copy; they are valid until the next call on the same reader.  To read an
 * event that is there takes no lock, no allocation, no system call and no atomic
 * read-modify-write; one of more than 4000 bytes costs a message to the server, and so does as much
 * as fits into 8 KiB of those that the ring no longer has.
 *
 * A reader belongs to one thread at a time; any number of readers may be open.  All of them end
 * with PMIx_Finalize (PMIX_ERR_INIT from then on) and are still to be closed. */
typedef struct shmix_events shmix_events_t;

typedef struct shmix_event {
    uint64_t number; /* of the job's events, from 1, in the order of all readers */
    pmix_status_t code;
    pmix_data_range_t range; /* as published */
    bool non_default;        /* not for default handlers (PMIX_EVENT_NON_DEFAULT) */
    bool environment;        /* of the environment, not of a job */
    pmix_proc_t source;      /* as the server knows it; PMIX_RANK_UNDEF: the resource manager */
    size_t target_count;     /* processes that a custom range addresses */
    size_t affected_count;   /* processes that it is about */
    size_t info_count;
    uint64_t lost_count; /* with SHMIX_ERR_EVENTS_LOST: how many, from number on */
    const void *procs;   /* for the functions below, as the rest is */
    size_t procs_size;
    const void *infos;
    size_t infos_size;
} shmix_event_t;

#define SHMIX_EVENTS_OLDEST UINT64_C(0) /* the oldest event that is still kept */
#define SHMIX_EVENTS_NOW UINT64_MAX     /* what is published from here on */
#define SHMIX_FOREVER UINT64_MAX

/* Open a reader that begins @from: SHMIX_EVENTS_OLDEST, SHMIX_EVENTS_NOW, or at an event's number.
 * Of the events from that number on, those that the server keeps no longer are told as lost.  With @codes it shows these
 * alone, and sleeps through others (@ncodes 0: all).  Any thread; the reader is the caller's to
 * close.  Return: PMIX_ERR_UNREACH in a process without a server; PMIX_ERR_LOST_CONNECTION;
 * PMIX_ERR_OUT_OF_RESOURCE. */
PMIX_EXPORT pmix_status_t shmix_events_open(uint64_t from, const pmix_status_t codes[],
                                            size_t ncodes, shmix_events_t **ret_events);

/* Also after PMIx_Finalize.  No other call on the reader may be under way. */
PMIX_EXPORT pmix_status_t shmix_events_close(shmix_events_t *events);

/* The next event, if it is there.  Return: PMIX_ERR_NOT_FOUND: not yet; SHMIX_ERR_EVENTS_LOST:
 * @ret_event has number and lost_count of what is gone (whatever its codes), and the next call
 * goes on behind it; PMIX_ERR_LOST_CONNECTION: the server is gone that has the rest of this event,
 * which is passed over; PMIX_ERR_OUT_OF_RESOURCE: no memory for one that the ring no longer has,
 * and the next call asks for it again; PMIX_ERR_UNPACK_FAILURE: what the server wrote contradicts
 * itself. */
PMIX_EXPORT pmix_status_t shmix_events_next(shmix_events_t *events, shmix_event_t *ret_event);

/* The same, but sleep up to @timeout_ns nanoseconds (SHMIX_FOREVER: until it comes).  Only events
 * of the reader's codes wake it, and few others.  Return: as shmix_events_next, but
 * PMIX_ERR_TIMEOUT instead of PMIX_ERR_NOT_FOUND; PMIX_ERR_LOST_CONNECTION when the server is gone
 * and all is read; PMIX_ERR_NOT_AVAILABLE in a forked child. */
PMIX_EXPORT pmix_status_t shmix_events_wait(shmix_events_t *events, uint64_t timeout_ns,
                                            shmix_event_t *ret_event);

/* A view of the info at @index, from 0, or of the first with @key; the time of an event is its
 * PMIX_EVENT_TIMESTAMP, if its publisher gave one.  @ret_key may be NULL.  Return:
 * PMIX_ERR_NOT_FOUND; PMIX_ERR_NOT_SUPPORTED for types without a view (as shmix_read_value), the
 * key is written all the same. */
PMIX_EXPORT pmix_status_t shmix_event_info(const shmix_event_t *event, size_t index,
                                           const char **ret_key, shmix_value_t *ret_value);
PMIX_EXPORT pmix_status_t shmix_event_find(const shmix_event_t *event, const char *key,
                                           shmix_value_t *ret_value);

/* The process at @index, from 0, of those that it is about, or that a custom range addresses;
 * PMIX_RANK_WILDCARD: all of its namespace.  Return: PMIX_ERR_NOT_FOUND. */
PMIX_EXPORT pmix_status_t shmix_event_affected(const shmix_event_t *event, size_t index,
                                               pmix_proc_t *ret_proc);
PMIX_EXPORT pmix_status_t shmix_event_target(const shmix_event_t *event, size_t index,
                                             pmix_proc_t *ret_proc);

/* uint32_t: how many events without a job a server keeps for those who come late; 512 unless said
 * to PMIx_server_init, or in the environment under either of these names. */
#define SHMIX_SERVER_CACHE_SIZE "pmix.srv.cache.sz"
#ifndef PMIX_SERVER_CACHE_SIZE
#define PMIX_SERVER_CACHE_SIZE SHMIX_SERVER_CACHE_SIZE
#endif

/* ---- Servers ---------------------------------------------------------------------------------- */

/* Any integer: to PMIx_server_init, how many seconds a PMIx_Get without PMIX_TIMEOUT waits for a key
 * of a process of the node that has committed, but not this key, before it ends with
 * PMIX_ERR_TIMEOUT; 0: without end.  Else the environment's SHMIX_GET_TIMEOUT counts, which may have
 * decimals, else 2 seconds. */
#define SHMIX_SERVER_GET_TIMEOUT "shmix.srv.get.tmout"

/* bool: to PMIx_server_init, whether clients come through a socket in a private directory under
 * PMIX_SERVER_TMPDIR, which stays when the server is killed until the next server of that user
 * removes it.  Else they come through an abstract socket, which leaves nothing; a process in another
 * network namespace than the server gets in if its user is the server's, or if it inherits the
 * server's descriptor as the ranks of shmix run do.  Else the environment's SHMIX_RENDEZVOUS counts:
 * "directory" or "abstract", which is the default. */
#define SHMIX_SERVER_DIRECTORY "shmix.srv.dir"

/* ---- Waiting ---------------------------------------------------------------------------------- */

/* A descriptor for poll(2), select(2) and epoll(7), readable when there is something to do: for
 * callbacks with PMIX_EXTERNAL_PROGRESS, and for the open readers of events (of their codes).  When
 * it is, call PMIx_Progress and read each reader until PMIX_ERR_NOT_FOUND; then it is quiet again.
 * It is readable from the start, so a program that looks whenever it is misses nothing; at times
 * there is nothing to be found.  The server writes to it at most once between two such looks, and
 * never for a process that has not asked for it.
 *
 * One a process; it is the library's, which closes it in PMIx_Finalize: do not read, write or close
 * it, and take it out of a set before.  Any thread; not from a callback.  A forked child has none.
 * Return: PMIX_ERR_LOST_CONNECTION and other errors of a request; PMIX_ERR_TIMEOUT when the server
 * does not answer for 30 seconds; PMIX_ERR_OUT_OF_RESOURCE when there are no descriptors left. */
PMIX_EXPORT pmix_status_t shmix_fd(int *ret_fd);

#ifdef __cplusplus
}
#endif

#endif
