/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rank.c - a rank for the scripts of this folder: the first argument says what it does.
 *
 *   apps          say what it knows of its application and of all others, a line each
 *   place         say what place it has in its job, on the node and among all jobs
 *   hear HOW      rank 1 ends by HOW (the same, or abort); the others say what they hear of it and
 *                 wait to be ended
 *   hang HOW      the same, and their handlers never return
 *   deaf HOW      the same, and they have none
 *   lives N [cut] rank 1 dies N times (cut: when its server has cut it off); all that see each other
 *                 then see its last life
 *   survive HOW   rank 1 ends by HOW (kill, exit, leave); the others hear of it and go on
 *   fence         say what a fence of the job returns
 *   late FILE     say its process id, and come to the fence of the others when FILE is there
 *   group FILE [NAME]
 *                 all are a group, which the last one leaves when FILE.leave is there, and which the
 *                 others end when FILE.end is there
 *   offer         put a number, its rank times ten, and say the job's namespace
 *   change FILE   put a number for FILE.1, another for FILE.2, and the same again for FILE.3, each
 *                 when the file is there, and end with FILE.end
 *   peek NSPACE   say what <shmix.h> sees of another server's job: each rank with its number
 *   thread        the same, after the thread that called PMIx_Init has ended: the word that tells
 *                 the server of a death tells it of that too, and it asks the kernel which it is
 *   abort RANK... rank 0 aborts these; the others but those meet in a fence
 *   abort-now N   abort rank N, and say what becomes of that
 *   abort-others  rank 0 aborts all processes of the node that are in other jobs
 *   abort-first   the same with the ranks 0 of other jobs
 *   log           log to both streams and for the records, with marks and without
 *   log-much N    log N lines of 100 bytes, in texts of 100 lines, and say so at the end
 *   control HOW   rank 0 controls rank 1 (signals, kill, terminate), the job (end) or says what is
 *                 not possible (not)
 *   table ENDS... rank 0 aborts the last rank, and says when the table of processes shows the end of
 *                 each other one as it is given, STATE:CODE
 *   early FILE ENDS...
 *                 the same, but it controls the last rank (terminate), and makes FILE when the
 *                 server has that, so that the others start
 *   servers       say which servers of the node there are, and which of them is the system server
 *   devices       ask for the topology in every way before the launcher knows it, and say how each
 *                 has ended
 *   load          load the topology, and say how that has ended
 *   end HOW       end without PMIx_Finalize (leave), or by an abort of its own (abort)
 *   foreign FILE  hold, without PMIx, segments that are named as a server's and are not, until
 *                 FILE is there
 *   stuck FILE    leave, without PMIx, a process that waits in the kernel as for a disk, and its
 *                 number in FILE
 *   kill          be killed as a client
 *   wait          as a client for ever, without hearing SIGTERM */
#include <limits.h>
#include <pmix.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <shmix.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RANKS_MAX 16

static pmix_proc_t me;

static void must(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS) {
        printf("rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(status));
        exit(1);
    }
}

static pmix_proc_t job(void)
{
    pmix_proc_t all = me;

    all.rank = PMIX_RANK_WILDCARD;
    return all;
}

static void await_file(const char *path)
{
    while (access(path, F_OK) != 0) {
        usleep(1000);
    }
}

static int fence(void)
{
    printf("rank %u: %s\n", me.rank, PMIx_Error_string(PMIx_Fence(NULL, 0, NULL, 0)));
    return 0;
}

/* ---- apps ------------------------------------------------------------------------------------ */

static unsigned long number_of(const pmix_value_t *value)
{
    return value->type == PMIX_PROC_RANK ? value->data.rank
           : value->type == PMIX_UINT32  ? value->data.uint32
           : value->type == PMIX_UINT16  ? value->data.uint16
                                         : 999999;
}

static void say_number(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                       const char *key, const char *label)
{
    pmix_value_t *value = NULL;

    must(PMIx_Get(proc, key, info, ninfo, &value), key);
    printf(" %s %lu", label, number_of(value));
    PMIX_VALUE_RELEASE(value);
}

static void say_string(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                       const char *key, const char *label)
{
    pmix_value_t *value = NULL;

    must(PMIx_Get(proc, key, info, ninfo, &value), key);
    printf(" %s '%s'", label, value->type == PMIX_STRING ? value->data.string : "?");
    PMIX_VALUE_RELEASE(value);
}

static void say_sets(void)
{
    pmix_value_t *value = NULL;

    if (PMIx_Get(&me, PMIX_PSET_NAMES, NULL, 0, &value) != PMIX_SUCCESS) {
        printf(" no sets");
        return;
    }
    const pmix_data_array_t *array = value->data.darray;

    for (size_t i = 0; i < array->size; i++) {
        printf(" set %s", ((char **)array->array)[i]);
    }
    PMIX_VALUE_RELEASE(value);
}

static int apps(void)
{
    const pmix_proc_t all = job();
    pmix_value_t *value = NULL;
    pmix_info_t info[2];
    bool yes = true;

    printf("rank %u:", me.rank);
    say_number(&me, NULL, 0, PMIX_APPNUM, "app");
    say_number(&me, NULL, 0, PMIX_APPLDR, "leader");
    say_number(&me, NULL, 0, PMIX_APP_RANK, "app rank");
    PMIX_INFO_LOAD(&info[0], PMIX_APP_INFO, &yes, PMIX_BOOL);
    say_number(&me, info, 1, PMIX_APP_SIZE, "of");
    say_sets();
    printf("\n");
    must(PMIx_Get(&all, PMIX_JOB_NUM_APPS, NULL, 0, &value), PMIX_JOB_NUM_APPS);
    for (uint32_t app = 0; app < number_of(value); app++) {
        PMIX_INFO_LOAD(&info[1], PMIX_APPNUM, &app, PMIX_UINT32);
        printf("rank %u: app %u:", me.rank, app);
        say_number(&all, info, 2, PMIX_APP_SIZE, "size");
        say_number(&all, info, 2, PMIX_APPLDR, "leader");
        say_string(&all, info, 2, PMIX_WDIR, "wdir");
        say_string(&all, info, 2, PMIX_APP_ARGV, "argv");
        printf("\n");
    }
    PMIX_VALUE_RELEASE(value);
    return 0;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static pmix_value_t *node_procs(void)
{
    const pmix_proc_t all = job();
    pmix_value_t *value = NULL;

    must(PMIx_Get(&all, PMIX_LOCAL_PROCS, NULL, 0, &value), PMIX_LOCAL_PROCS);
    return value;
}

static int place(void)
{
    const pmix_proc_t all = job();
    pmix_value_t *value = node_procs();
    const pmix_proc_t *const procs = value->data.darray->array;
    size_t others = 0;

    for (size_t i = 0; i < value->data.darray->size; i++) {
        others += strcmp(procs[i].nspace, me.nspace) != 0;
    }
    PMIX_VALUE_RELEASE(value);
    printf("rank %u", me.rank);
    say_number(&all, NULL, 0, PMIX_JOB_SIZE, "of");
    say_number(&all, NULL, 0, PMIX_LOCAL_SIZE, "local");
    say_number(&all, NULL, 0, PMIX_NPROC_OFFSET, "offset");
    say_number(&me, NULL, 0, PMIX_GLOBAL_RANK, "global");
    say_number(&me, NULL, 0, PMIX_NODE_RANK, "node rank");
    say_number(&all, NULL, 0, PMIX_NODE_SIZE, "of");
    say_number(&all, NULL, 0, PMIX_UNIV_SIZE, "universe");
    say_string(&all, NULL, 0, PMIX_LOCAL_PEERS, "peers");
    printf(" others %zu\n", others);
    return 0;
}

static int abort_others(bool first_alone)
{
    pmix_value_t *value = node_procs();
    pmix_proc_t *const procs = value->data.darray->array;
    size_t count = 0;

    for (size_t i = 0; i < value->data.darray->size; i++) {
        if (strcmp(procs[i].nspace, me.nspace) != 0 && (procs[i].rank == 0 || !first_alone)) {
            procs[count++] = procs[i];
        }
    }
    if (me.rank == 0) {
        printf("abort: %s\n", PMIx_Error_string(PMIx_Abort(7, "not needed", procs, count)));
        fflush(stdout);
    }
    PMIX_VALUE_RELEASE(value);
    return fence();
}

/* ---- what the launcher does not know yet ----------------------------------------------------- */

#define ASKS 6

static pthread_mutex_t answers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answers_come = PTHREAD_COND_INITIALIZER;
static const char *answers[ASKS];
static size_t answer_count;

static bool has_distances(const pmix_value_t *value)
{
    return value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_DEVICE_DIST;
}

static bool has_key(const pmix_value_t *value, const char *key)
{
    const pmix_data_array_t *const array = value->data.darray;

    for (size_t i = 0; value->type == PMIX_DATA_ARRAY && i < array->size; i++) {
        if (PMIx_Check_key(((const pmix_info_t *)array->array)[i].key, key)) {
            return true;
        }
    }
    return false;
}

static void on_answer(pmix_status_t status, pmix_value_t *value, void *arg)
{
    const bool is_whole = status == PMIX_SUCCESS &&
                          (value->type == PMIX_STRING || has_distances(value) ||
                           has_key(value, PMIX_HWLOC_XML_V2));

    pthread_mutex_lock(&answers_lock);
    *(const char **)arg = is_whole ? "whole" : PMIx_Error_string(status);
    answer_count++;
    pthread_cond_signal(&answers_come);
    pthread_mutex_unlock(&answers_lock);
}

/* Asked without waiting, whatever the directive; what is no part of it is not held up. */
static void devices_ask(void)
{
    static const char *const keys[ASKS] = { PMIX_LOCAL_TOPO,       PMIX_HWLOC_XML_V2,
                                            PMIX_LOCAL_TOPO,       PMIX_HWLOC_XML_V2,
                                            PMIX_DEVICE_DISTANCES, NULL };
    static const char *const directives[ASKS] = { NULL, PMIX_OPTIONAL, PMIX_IMMEDIATE,
                                                  NULL, NULL,          NULL };
    const pmix_proc_t all = job();
    const int second = 1;
    pmix_value_t *value = NULL;
    pmix_info_t info = { .value = { .type = PMIX_INT, .data.integer = second } };

    strcpy(info.key, PMIX_TIMEOUT);
    printf("rank %u: %s in a second\n", me.rank,
           PMIx_Error_string(PMIx_Get(&all, PMIX_LOCAL_TOPO, &info, 1, &value)));
    must(PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_JOB_SIZE);
    PMIX_VALUE_RELEASE(value);
    for (size_t i = 0; i < ASKS; i++) {
        pmix_info_t directive = { .value = { .type = PMIX_BOOL, .data.flag = true } };

        strcpy(directive.key, directives[i] != NULL ? directives[i] : "");
        must(PMIx_Get_nb(i == 3 || i == 4 ? &me : &all, keys[i], &directive, directives[i] != NULL,
                         on_answer, &answers[i]),
             "PMIx_Get_nb");
    }
}

static int load(void)
{
    pmix_topology_t topology = { .source = NULL };

    printf("load: %s\n", PMIx_Error_string(PMIx_Load_topology(&topology)));
    PMIx_Topology_destruct(&topology);
    return 0;
}

static int devices(void)
{
    pmix_device_distance_t *distances = NULL;
    size_t count = 0;

    devices_ask();
    must(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence"); /* the server has what was asked before */
    printf("asked\n");
    fflush(stdout);
    if (me.rank == 0) {
        load();
    } else {
        printf("distances: %s\n",
               PMIx_Error_string(PMIx_Compute_distances(NULL, NULL, NULL, 0, &distances, &count)));
    }
    pthread_mutex_lock(&answers_lock);
    while (answer_count < ASKS) {
        pthread_cond_wait(&answers_come, &answers_lock);
    }
    printf("rank %u:", me.rank);
    for (size_t i = 0; i < ASKS; i++) {
        printf(" %s", answers[i]);
    }
    printf("\n");
    pthread_mutex_unlock(&answers_lock);
    if (distances != NULL) {
        PMIx_Device_distance_free(distances, count);
    }
    return 0;
}

/* ---- failures -------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t received = PTHREAD_COND_INITIALIZER;
static bool lost;                 /* of rank 1: the connection is lost */
static pmix_status_t notified[2]; /* how it ended */
static int notified_count;
static int notified_exit = -1;
static bool hangs; /* handlers do not return */

static void on_failure(size_t id, pmix_status_t status, const pmix_proc_t *source,
                       pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    bool of_rank_1 = false;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0) {
            of_rank_1 = info[i].value.type == PMIX_PROC && info[i].value.data.proc->rank == 1 &&
                        strcmp(info[i].value.data.proc->nspace, me.nspace) == 0;
        } else if (strcmp(info[i].key, PMIX_EXIT_CODE) == 0) {
            notified_exit = info[i].value.data.integer;
        }
    }
    if (of_rank_1 && status == PMIX_ERR_LOST_CONNECTION) {
        lost = true;
    } else if (of_rank_1 && notified_count < 2) {
        notified[notified_count++] = status;
    }
    pthread_cond_broadcast(&received);
    pthread_mutex_unlock(&lock);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* What a program does that knows of no failure which it could survive. */
static void on_anything(size_t id, pmix_status_t status, const pmix_proc_t *source,
                        pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                        pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    printf("rank %u: a handler without codes heard %s\n", me.rank, PMIx_Error_string(status));
    fflush(stdout);
    _exit(195);
}

/* A fence of all ranks but those in @left_out. */
static void fence_without(const bool *left_out)
{
    const pmix_proc_t all = job();
    pmix_proc_t procs[RANKS_MAX];
    pmix_value_t *value = NULL;
    size_t count = 0;

    must(PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_JOB_SIZE);
    for (uint32_t rank = 0; rank < value->data.uint32 && rank < RANKS_MAX; rank++) {
        if (!left_out[rank]) {
            procs[count] = me;
            procs[count++].rank = rank;
        }
    }
    PMIX_VALUE_RELEASE(value);
    must(PMIx_Fence(procs, count, NULL, 0), "a fence of those who are left");
}

static int survive(const char *how)
{
    static const bool rank_1[RANKS_MAX] = { [1] = true };
    pmix_status_t codes[] = { PMIX_ERR_LOST_CONNECTION, PMIX_ERR_PROC_ABORTED_BY_SIG,
                              PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_PROC_TERM_WO_SYNC };
    const pmix_status_t id = PMIx_Register_event_handler(codes, sizeof(codes) / sizeof(codes[0]),
                                                         NULL, 0, on_failure, NULL, NULL);

    const bool yes = true;
    pmix_info_t first;

    must(id < 0 ? id : PMIX_SUCCESS, "a handler");
    must(PMIx_Info_load(&first, PMIX_EVENT_HDLR_FIRST, &yes, PMIX_BOOL), "its place");
    must(PMIx_Register_event_handler(NULL, 0, &first, 1, on_anything, NULL, NULL) < 0
             ? PMIX_ERROR
             : PMIX_SUCCESS,
         "a default handler");
    must(PMIx_Fence(NULL, 0, NULL, 0), "the first fence");
    if (me.rank == 1) {
        if (strcmp(how, "kill") == 0) {
            kill(getpid(), SIGKILL);
        }
        _exit(strcmp(how, "exit") == 0 ? 5 : 0);
    }
    pthread_mutex_lock(&lock);
    while (!lost || notified_count < (strcmp(how, "exit") == 0 ? 2 : 1)) {
        pthread_cond_wait(&received, &lock);
    }
    pthread_mutex_unlock(&lock);
    if (PMIx_Fence(NULL, 0, NULL, 0) != PMIX_ERR_LOST_CONNECTION) {
        printf("rank %u: a fence of all ended without the lost rank\n", me.rank);
        return 1;
    }
    fence_without(rank_1);
    for (int i = 0; i < notified_count; i++) {
        printf("rank %u: heard %s, exit code %d\n", me.rank, PMIx_Error_string(notified[i]),
               notified_exit);
    }
    return 0;
}

static uint32_t u32_of(const pmix_proc_t *proc, const char *key)
{
    pmix_value_t *value;
    uint32_t number;

    must(PMIx_Get(proc, key, NULL, 0, &value), key);
    number = value->type == PMIX_UINT32 ? value->data.uint32 : UINT32_MAX;
    PMIX_VALUE_RELEASE(value);
    return number;
}

/* Who waits for rank 1 when it dies is told so, and waits again. */
static void fence_of_all(void)
{
    pmix_status_t rc;

    do {
        rc = PMIx_Fence(NULL, 0, NULL, 0);
    } while (rc == PMIX_ERR_LOST_CONNECTION);
    must(rc, "a fence of all");
}

/* Send the server what is no message, and wait until it has ended the connection. */
static void be_cut_off(void)
{
    struct pollfd server = { .fd = 3, .events = POLLIN };
    int type = 0;
    socklen_t size = sizeof(type);

    while (server.fd < 1024 && (getsockopt(server.fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
                                type != SOCK_SEQPACKET)) {
        server.fd++;
        size = sizeof(type);
    }
    must(send(server.fd, "garbage", 7, 0) == 7 ? PMIX_SUCCESS : PMIX_ERROR, "garbage");
    while ((server.revents & POLLHUP) == 0) {
        (void)poll(&server, 1, -1);
    }
}

static int lives(uint32_t deaths, bool is_cut)
{
    pmix_proc_t rank_1 = me;
    const uint32_t life = u32_of(&me, PMIX_REINCARNATION);
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = life };

    rank_1.rank = 1;
    must(PMIx_Put(PMIX_GLOBAL, "life", &value), "a put");
    must(PMIx_Commit(), "a commit");
    if (me.rank == 1 && life < deaths) {
        printf("rank 1 dies in life %u\n", life);
        fflush(stdout);
        if (is_cut) {
            be_cut_off();
        }
        kill(getpid(), SIGKILL);
    }
    fence_of_all();
    printf("rank %u sees life %u of %u\n", me.rank, u32_of(&rank_1, "life"),
           u32_of(&rank_1, PMIX_REINCARNATION));
    return 0;
}

/* For all that tells of the end of rank 1: it says so, and nothing else is left to this process. */
static void on_end(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    char line[128];
    const int size = snprintf(line, sizeof(line), "rank %u heard %s of %u\n", me.rank,
                              PMIx_Error_string(status), source->rank);

    (void)!write(STDOUT_FILENO, line, (size_t)size);
    while (hangs) {
        pause();
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static int receive(const char *how, bool listens)
{
    pmix_status_t codes[] = { PMIX_ERR_LOST_CONNECTION, PMIX_ERR_PROC_ABORTED_BY_SIG,
                              PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_PROC_TERM_WO_SYNC,
                              PMIX_ERR_PROC_REQUESTED_ABORT };

    if (listens && me.rank != 1) {
        must(PMIx_Register_event_handler(codes, sizeof(codes) / sizeof(codes[0]), NULL, 0, on_end,
                                         NULL, NULL) < 0
                 ? PMIX_ERROR
                 : PMIX_SUCCESS,
             "a handler");
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "the first fence");
    if (me.rank == 1 && strcmp(how, "abort") == 0) {
        (void)PMIx_Abort(7, "", NULL, 0);
    } else if (me.rank == 1 && strcmp(how, "kill") == 0) {
        kill(getpid(), SIGKILL);
    } else if (me.rank == 1) {
        _exit(strcmp(how, "exit") == 0 ? 5 : 0);
    }
    for (;;) {
        pause();
    }
}

static int abort_some(char **ranks, int count)
{
    bool named[RANKS_MAX] = { false };
    pmix_proc_t procs[RANKS_MAX];
    pmix_status_t status;

    for (int i = 0; i < count && i < RANKS_MAX; i++) {
        procs[i] = me;
        procs[i].rank = (pmix_rank_t)strtoul(ranks[i], NULL, 10);
        if (procs[i].rank < RANKS_MAX) {
            named[procs[i].rank] = true;
        }
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "the first fence");
    if (me.rank == 0) {
        status = PMIx_Abort(7, "not needed", procs, (size_t)count);
        printf("abort: %s\n", PMIx_Error_string(status));
        fflush(stdout);
        if (status != PMIX_SUCCESS) {
            memset(named, 0, sizeof(named));
        }
    }
    while (named[me.rank]) {
        pause();
    }
    if (procs[0].rank < RANKS_MAX) {
        fence_without(named);
    }
    printf("rank %u goes on\n", me.rank);
    return 0;
}

static int abort_now(const char *rank)
{
    pmix_proc_t proc = me;

    proc.rank = (pmix_rank_t)atoi(rank);
    printf("abort: %s\n", PMIx_Error_string(PMIx_Abort(7, "not needed", &proc, 1)));
    return 0;
}

static int group(const char *file, const char *name)
{
    const pmix_proc_t all = job();
    pmix_info_t *results;
    char path[4096];
    size_t count;

    must(PMIx_Group_construct(name, &all, 1, NULL, 0, &results, &count), "construct");
    PMIx_Info_free(results, count);
    snprintf(path, sizeof(path), "%s.leave", file);
    await_file(path);
    if (me.rank == 2) {
        must(PMIx_Group_leave(name, NULL, 0), "leave");
        return 0;
    }
    snprintf(path, sizeof(path), "%s.end", file);
    await_file(path);
    must(PMIx_Group_destruct(name, NULL, 0), "destruct");
    return 0;
}

static int offer(void)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = me.rank * 10 };

    must(PMIx_Put(PMIX_GLOBAL, "offered", &value), "PMIx_Put");
    must(PMIx_Commit(), "PMIx_Commit");
    must(PMIx_Fence(NULL, 0, NULL, 0), "a fence");
    if (me.rank == 0) {
        printf("%s\n", me.nspace);
        fflush(stdout);
    }
    pause();
    return 1;
}

static int change(const char *file)
{
    static const uint32_t numbers[] = { 10, 20, 20 };
    char path[PATH_MAX];

    printf("%s\n", me.nspace);
    fflush(stdout);
    for (unsigned i = 0; i < 3; i++) {
        pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = numbers[i] };

        snprintf(path, sizeof(path), "%s.%u", file, i + 1);
        await_file(path);
        must(PMIx_Put(PMIX_GLOBAL, "changing", &value), "PMIx_Put");
        must(PMIx_Commit(), "PMIx_Commit");
        must(PMIx_Fence(NULL, 0, NULL, 0), "a fence"); /* the server takes it before that ends */
    }
    snprintf(path, sizeof(path), "%s.end", file);
    await_file(path);
    return 0;
}

static int peek(const char *nspace)
{
    const shmix_key_t *key;
    shmix_job_t *other;
    uint64_t number;

    must(shmix_job_open(nspace, &other), "shmix_job_open");
    must(shmix_key_find(other, SHMIX_JOB, "offered", &key), "shmix_key_find");
    for (pmix_rank_t rank = 0; shmix_key_next(key, rank, &rank) == PMIX_SUCCESS; rank++) {
        must(shmix_read_u64(key, rank, &number), "shmix_read_u64");
        printf("%u %u\n", rank, (unsigned)number);
    }
    return shmix_job_close(other) != PMIX_SUCCESS;
}

/* As many turns of the server as it takes to have heard of all. */
static int fences(void)
{
    for (int i = 0; i < 1000; i++) {
        must(PMIx_Fence(NULL, 0, NULL, 0), "one fence of many");
    }
    return fence();
}

/* The server watches the word from a client's first message on. */
static void *begin(void *arg)
{
    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    must(PMIx_Fence(NULL, 0, NULL, 0), "the first fence");
    return arg;
}

static void begin_in_a_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, begin, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        printf("no thread\n");
        exit(1);
    }
}

/* ---- log ------------------------------------------------------------------------------------- */

static pmix_info_t text_of(const char *key, const char *text)
{
    pmix_info_t info = { .value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text } };

    strcpy(info.key, key);
    return info;
}

static pmix_info_t yes(const char *key)
{
    pmix_info_t info = { .value = { .type = PMIX_BOOL, .data.flag = true } };

    strcpy(info.key, key);
    return info;
}

static int log_all(void)
{
    const pmix_info_t streams[] = { text_of(PMIX_LOG_STDOUT, "to stdout"),
                                    text_of(PMIX_LOG_STDERR, "to stderr\n") };
    const pmix_info_t marks[] = { yes(PMIX_LOG_TAG_OUTPUT) };
    const pmix_info_t text[] = { text_of(PMIX_LOG_JOB_RECORD, "a \"text\"") };
    const pmix_info_t data[] = { yes(PMIX_LOG_GLOBAL_DATASTORE), text_of("my.key", "my value") };
    const pmix_info_t email[] = { text_of(PMIX_LOG_STDOUT, "beside"), text_of("matter", "none") };

    printf("plain: %s\n", PMIx_Error_string(PMIx_Log(streams, 2, NULL, 0)));
    printf("marks: %s\n", PMIx_Error_string(PMIx_Log(streams, 2, marks, 1)));
    printf("record: %s\n", PMIx_Error_string(PMIx_Log(text, 1, NULL, 0)));
    printf("store: %s\n", PMIx_Error_string(PMIx_Log(data, 2, NULL, 0)));
    printf("matter: %s\n", PMIx_Error_string(PMIx_Log(email, 2, NULL, 0)));
    return 0;
}

static int log_much(int lines)
{
    static char text[100 * 100 + 1];
    const pmix_info_t info = text_of(PMIX_LOG_STDOUT, text);

    for (int line = 0; line < lines; line++) {
        snprintf(text + line % 100 * 100, 101, "%u %97d\n", me.rank % 10, line);
        if (line % 100 == 99) {
            must(PMIx_Log(&info, 1, NULL, 0), "PMIx_Log");
        }
    }
    return 0;
}

/* ---- job control ----------------------------------------------------------------------------- */

/* What it says to @key, of @target (NULL: the job). */
static pmix_status_t control(const pmix_proc_t *target, const char *key, int number)
{
    pmix_info_t info = yes(key);

    if (number != 0) {
        info.value = (pmix_value_t){ .type = PMIX_INT, .data.integer = number };
    }
    return PMIx_Job_control(target, target == NULL ? 0 : 1, &info, 1, NULL, NULL);
}

/* Wait until the kernel says of @pid that it is stopped, or is not. */
static void await_stopped(pid_t pid, bool stopped)
{
    char path[64], state = '?';

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    do {
        FILE *const file = fopen(path, "r");

        if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1) {
            exit(1);
        }
        fclose(file);
        usleep(1000);
    } while ((state == 'T') != stopped);
}

static int control_signals(const pmix_proc_t *one)
{
    pmix_value_t *pid = NULL;

    must(PMIx_Get(one, PMIX_PROC_PID, NULL, 0, &pid), PMIX_PROC_PID);
    must(control(one, PMIX_JOB_CTRL_PAUSE, 0), "pause");
    await_stopped(pid->data.pid, true);
    must(control(one, PMIX_JOB_CTRL_RESUME, 0), "resume");
    await_stopped(pid->data.pid, false);
    must(control(one, PMIX_JOB_CTRL_SIGNAL, SIGUSR1), "signal");
    PMIX_VALUE_RELEASE(pid);
    return 0;
}

static int control_not(pmix_proc_t *one)
{
    const pmix_info_t two[] = { yes(PMIX_JOB_CTRL_PAUSE), yes(PMIX_JOB_CTRL_RESUME) };
    const pmix_info_t id = text_of(PMIX_JOB_CTRL_CANCEL, "an id");
    const pmix_info_t name = text_of(PMIX_JOB_CTRL_CHECKPOINT, "a name");

    printf("two: %s\n", PMIx_Error_string(PMIx_Job_control(one, 1, two, 2, NULL, NULL)));
    printf("cancel: %s\n", PMIx_Error_string(PMIx_Job_control(one, 1, &id, 1, NULL, NULL)));
    printf("checkpoint: %s\n", PMIx_Error_string(PMIx_Job_control(one, 1, &name, 1, NULL, NULL)));
    one->rank = 77;
    printf("nobody: %s\n", PMIx_Error_string(control(one, PMIX_JOB_CTRL_KILL, 0)));
    one->rank = 1;
    must(control(one, PMIX_JOB_CTRL_SIGNAL, SIGUSR1), "signal");
    return 0;
}

static int control_all(const char *how)
{
    pmix_proc_t one = me;
    int number = 0;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    must(PMIx_Fence(NULL, 0, NULL, 0), "the first fence");
    if (me.rank != 0) {
        sigwait(&set, &number);
        printf("rank %u heard %s\n", me.rank, number == SIGUSR1 ? "SIGUSR1" : "another signal");
        return 0;
    }
    one.rank = 1;
    if (strcmp(how, "signals") == 0) {
        return control_signals(&one);
    }
    if (strcmp(how, "not") == 0) {
        return control_not(&one);
    }
    if (strcmp(how, "end") == 0) {
        (void)control(NULL, PMIX_JOB_CTRL_TERMINATE, 0);
        pause();
    }
    must(control(&one, strcmp(how, "kill") == 0 ? PMIX_JOB_CTRL_KILL : PMIX_JOB_CTRL_TERMINATE, 0),
         how);
    printf("rank 0 goes on\n");
    return 0;
}

/* ---- the table of processes ------------------------------------------------------------------ */

static bool has_ended(const pmix_proc_info_t *proc, const char *want)
{
    char its[128];

    snprintf(its, sizeof(its), "%s:%d",
             PMIx_Proc_state_string(proc->state) + strlen("PMIX_PROC_STATE_"), proc->exit_code);
    return proc->hostname != NULL && proc->executable_name != NULL && strcmp(its, want) == 0;
}

/* Return: how many of the ranks behind this one are shown as they are wanted. */
static int ends_count(char **want, int count, bool says)
{
    char *keys[] = { (char *)(uintptr_t)PMIX_QUERY_PROC_TABLE, NULL };
    pmix_info_t qualifier, *info;
    pmix_query_t query = { .keys = keys, .qualifiers = &qualifier, .nqual = 1 };
    size_t ninfo;
    int found = 0;

    must(PMIx_Info_load(&qualifier, PMIX_NSPACE, me.nspace, PMIX_STRING), "a qualifier");
    must(PMIx_Query_info(&query, 1, &info, &ninfo), "PMIx_Query_info");
    const pmix_data_array_t *const table = info[0].value.data.darray;
    const pmix_proc_info_t *const procs = table->array;

    for (int i = 0; i < count && (size_t)i + 1 < table->size; i++) {
        found += has_ended(&procs[i + 1], want[i]);
        if (says) {
            printf("rank %d: %s, code %d, not %s\n", i + 1,
                   PMIx_Proc_state_string(procs[i + 1].state), procs[i + 1].exit_code, want[i]);
        }
    }
    PMIX_INFO_FREE(info, ninfo);
    PMIx_Info_destruct(&qualifier);
    return found;
}

static int ends_await(char **want, int count)
{
    for (int i = 0; i < 30000 && ends_count(want, count, false) < count; i++) {
        usleep(1000);
    }
    if (ends_count(want, count, false) < count) {
        return ends_count(want, count, true), 1;
    }
    printf("as they ended\n");
    return 0;
}

static int table(char **want, int count)
{
    pmix_proc_t last = me;

    last.rank = (pmix_rank_t)count;
    must(PMIx_Abort(7, "not needed", &last, 1), "PMIx_Abort");
    return ends_await(want, count);
}

static void controlled(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *arg,
                       pmix_release_cbfunc_t release, void *release_arg)
{
    (void)info;
    (void)ninfo;
    (void)arg;
    must(status, "terminate");
    if (release != NULL) {
        release(release_arg);
    }
}

static int early(const char *gate, char **want, int count)
{
    const pmix_info_t terminate = yes(PMIX_JOB_CTRL_TERMINATE);
    pmix_proc_t last = me;
    FILE *file;

    last.rank = (pmix_rank_t)count;
    must(PMIx_Job_control_nb(&last, 1, &terminate, 1, controlled, NULL), "PMIx_Job_control_nb");
    (void)ends_count(want, count, false); /* the server answers in the order of the requests */
    file = fopen(gate, "w");
    if (file == NULL) {
        printf("rank %u: no %s\n", me.rank, gate);
        return 1;
    }
    fclose(file);
    return ends_await(want, count);
}

static const pmix_value_t *value_in(const pmix_data_array_t *infos, const char *key)
{
    const pmix_info_t *const all = infos->array;
    size_t i = 0;

    while (i < infos->size && strcmp(all[i].key, key) != 0) {
        i++;
    }
    must(i < infos->size ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, key);
    return &all[i].value;
}

static int servers(void)
{
    char *keys[] = { (char *)(uintptr_t)PMIX_QUERY_AVAIL_SERVERS, NULL };
    pmix_query_t query = { .keys = keys };
    pmix_info_t *info;
    size_t ninfo;

    must(PMIx_Query_info(&query, 1, &info, &ninfo), "PMIx_Query_info");
    const pmix_data_array_t *const all = info[0].value.data.darray;

    for (size_t i = 0; i < all->size; i++) {
        const pmix_data_array_t *const its = ((pmix_info_t *)all->array)[i].value.data.darray;

        printf("%d%s\n", (int)value_in(its, PMIX_SERVER_PIDINFO)->data.pid,
               value_in(its, PMIX_SERVER_SYSTEM_SUPPORT)->data.flag ? " system" : "");
    }
    PMIX_INFO_FREE(info, ninfo);
    return 0;
}

static void end(const char *how)
{
    if (strcmp(how, "abort") == 0) {
        (void)PMIx_Abort(7, "", &me, 1);
    }
    _exit(0);
}

static void foreign(const char *file)
{
    static const char *const names[] = { "shmix:board:x", "shmix:ring:x", "shmix:store:x",
                                         "shmix:ops:x" };
    static const char text[] = "somebody else's";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const int fd = memfd_create(names[i], MFD_CLOEXEC);

        if (fd < 0 || write(fd, text, sizeof(text)) != sizeof(text)) {
            exit(1);
        }
    }
    printf("foreign %ld\n", (long)getpid());
    fflush(stdout);
    await_file(file);
}

/* Whether process @pid waits in the kernel and cannot be interrupted. */
static bool is_stuck(pid_t pid)
{
    char path[32], line[256] = "";

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *const file = fopen(path, "r");
    const bool got = file != NULL && fgets(line, sizeof(line), file) != NULL;

    if (file != NULL) {
        fclose(file);
    }
    return got && strstr(line, ") D ") != NULL;
}

/* A process waits so while what it has made by vfork has neither ended nor executed a program. */
static void stuck(const char *name)
{
    char text[PATH_MAX];

    if (fork() == 0) {
        setsid();
        for (int fd = 0; fd < 256; fd++) {
            close(fd);
        }
        if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0) {
            const pid_t parent = getppid();

            while (!is_stuck(parent)) {
                poll(NULL, 0, 1);
            }
            snprintf(text, sizeof(text), "%s.new", name);
            FILE *const file = fopen(text, "w");

            fprintf(file, "%d", (int)parent);
            fclose(file);
            rename(text, name);
            pause();
        }
        _exit(0);
    }
    await_file(name);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int code = 2;

    if (strcmp(what, "stuck") == 0 && argc > 2) {
        stuck(argv[2]);
        return 0;
    }
    if (strcmp(what, "foreign") == 0 && argc > 2) {
        foreign(argv[2]);
        return 0;
    }
    if (strcmp(what, "thread") == 0) {
        begin_in_a_thread();
    } else {
        must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    }
    if (strcmp(what, "apps") == 0) {
        code = apps();
    } else if (strcmp(what, "place") == 0) {
        code = place();
    } else if (strcmp(what, "abort-others") == 0 || strcmp(what, "abort-first") == 0) {
        code = abort_others(strcmp(what, "abort-first") == 0);
    } else if (strcmp(what, "lives") == 0) {
        code = lives(argc > 2 ? (uint32_t)atoi(argv[2]) : 0, argc > 3);
    } else if (strcmp(what, "survive") == 0) {
        code = survive(argc > 2 ? argv[2] : "");
    } else if (strcmp(what, "hear") == 0 || strcmp(what, "hang") == 0 ||
               strcmp(what, "deaf") == 0) {
        hangs = strcmp(what, "hang") == 0;
        code = receive(argc > 2 ? argv[2] : "", strcmp(what, "deaf") != 0);
    } else if (strcmp(what, "devices") == 0) {
        code = devices();
    } else if (strcmp(what, "load") == 0) {
        code = load();
    } else if (strcmp(what, "pass") == 0) {
        code = 0;
    } else if (strcmp(what, "thread") == 0) {
        code = fences();
    } else if (strcmp(what, "offer") == 0) {
        code = offer();
    } else if (strcmp(what, "change") == 0 && argc > 2) {
        code = change(argv[2]);
    } else if (strcmp(what, "peek") == 0) {
        code = peek(argc > 2 ? argv[2] : "");
    } else if (strcmp(what, "late") == 0) {
        printf("late %d\n", (int)getpid());
        fflush(stdout);
        if (argc > 2) {
            await_file(argv[2]);
        }
        code = fence();
    } else if (strcmp(what, "fence") == 0) {
        code = fence();
        if (argc > 2) {
            await_file(argv[2]);
        }
    } else if (strcmp(what, "group") == 0 && argc > 2) {
        code = group(argv[2], argc > 3 ? argv[3] : "lake");
    } else if (strcmp(what, "abort") == 0) {
        code = abort_some(argv + 2, argc - 2);
    } else if (strcmp(what, "abort-now") == 0 && argc > 2) {
        code = abort_now(argv[2]);
    } else if (strcmp(what, "log") == 0) {
        code = log_all();
    } else if (strcmp(what, "log-much") == 0) {
        code = log_much(argc > 2 ? atoi(argv[2]) : 100);
    } else if (strcmp(what, "control") == 0) {
        code = control_all(argc > 2 ? argv[2] : "");
    } else if (strcmp(what, "table") == 0) {
        code = table(argv + 2, argc - 2);
    } else if (strcmp(what, "early") == 0) {
        code = argc > 3 ? early(argv[2], argv + 3, argc - 3) : 1;
    } else if (strcmp(what, "servers") == 0) {
        code = servers();
    } else if (strcmp(what, "end") == 0) {
        end(argc > 2 ? argv[2] : "");
    } else if (strcmp(what, "kill") == 0) {
        kill(getpid(), SIGKILL);
    }
    while (strcmp(what, "wait") == 0) {
        signal(SIGTERM, SIG_IGN);
        must(PMIx_Fence(NULL, 0, NULL, 0), "the first fence");
        pause();
    }
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return code;
}
