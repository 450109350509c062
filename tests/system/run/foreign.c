/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign.c - a rank that may carry any PMIx library; some ranks of a job have ours and some not.
 *
 *     data          small, long and large values, of all scopes, both ways; own pid
 *     again         Init, fence and Finalize three times
 *     forks         a child inherits the connection, and outlives nobody
 *     exit N        finalize, and exit with N
 *     leave         exit without Finalize
 *     starts        start this program again as a child, which is refused
 *     abort N       PMIx_Abort by the last rank
 *     wait          print "RANK PID ready", then a fence that never completes: rank 0 does not come
 *     pull N [GO]   rank 0 pulls what rank 1 writes, N lines, and compares them; its first callback
 *                   makes GO.held, and waits until there is GO; rank 1 makes GO.written at its end.
 *                   Ranks from 2 on fence among themselves, and make GO.fenced
 *     fabric        print the fabric's vendor, as the host says it, and says it again
 *     devices       print how far devices are, by the server and by the library itself, as a sum
 *     late FILE     rank 0 publishes events of two codes in turns, and makes FILE; the others wait
 *                   for it before their PMIx_Init, and get the events in that order
 *     lists         read under the name of a group, and print what a Get of SHMIX_CONNECTED returns
 *     nameless      put a value under the empty key between two others, and get those of all
 *     recode        rank 0 publishes what others have a handler for, and no longer, and again
 *
 * A rank prints "RANK: ok" at its end. */
#include <fcntl.h>
#include <pmix.h>
#include <pmix_tool.h>
#include <semaphore.h>
#include <shmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE ((size_t)10 << 20)
#define LONG ((size_t)100000)

static pmix_proc_t self;
static uint32_t size;

static void check(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        printf("%u: %s: %s\n", self.rank, what, PMIx_Error_string(rc));
        fflush(stdout);
        exit(99);
    }
}

static void begin(void)
{
    pmix_value_t *value;
    pmix_proc_t job;

    check(PMIx_Init(&self, NULL, 0), "init");
    PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
    check(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), "job size");
    size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
}

static void fence(void)
{
    check(PMIx_Fence(NULL, 0, NULL, 0), "fence");
}

static char *text_of(char letter, size_t length)
{
    char *const text = malloc(length + 1);

    memset(text, letter, length);
    text[length] = '\0';
    return text;
}

static void put_text(pmix_scope_t scope, const char *key, char letter, size_t length)
{
    pmix_value_t value = { .type = PMIX_STRING };

    value.data.string = text_of(letter, length);
    check(PMIx_Put(scope, key, &value), key);
    free(value.data.string);
}

static void get_text(pmix_rank_t rank, const char *key, char letter, size_t length)
{
    char *const want = text_of(letter, length);
    pmix_value_t *value;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, self.nspace, rank);
    check(PMIx_Get(&proc, key, NULL, 0, &value), key);
    if (value->type != PMIX_STRING || strcmp(value->data.string, want) != 0) {
        check(PMIX_ERROR, key);
    }
    PMIX_VALUE_RELEASE(value);
    free(want);
}

static char letter_of(pmix_rank_t rank)
{
    return (char)('a' + rank % 26);
}

static void put_large(void)
{
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT };

    value.data.bo.bytes = text_of(letter_of(self.rank), LARGE);
    value.data.bo.size = LARGE;
    check(PMIx_Put(PMIX_GLOBAL, "large", &value), "large");
    free(value.data.bo.bytes);
}

static void get_large(pmix_rank_t rank)
{
    pmix_value_t *value;
    pmix_proc_t proc;
    bool same;

    PMIX_LOAD_PROCID(&proc, self.nspace, rank);
    check(PMIx_Get(&proc, "large", NULL, 0, &value), "large");
    same = value->type == PMIX_BYTE_OBJECT && value->data.bo.size == LARGE;
    for (size_t i = 0; i < LARGE && same; i++) {
        same = value->data.bo.bytes[i] == letter_of(rank);
    }
    check(same ? PMIX_SUCCESS : PMIX_ERROR, "large");
    PMIX_VALUE_RELEASE(value);
}

static void own_pid(void)
{
    pmix_value_t *value;

    check(PMIx_Get(&self, PMIX_PROC_PID, NULL, 0, &value), "pid");
    check(value->data.pid == getpid() ? PMIX_SUCCESS : PMIX_ERROR, "own pid");
    PMIX_VALUE_RELEASE(value);
}

static void data(void)
{
    pmix_value_t *value;
    pmix_info_t at_once;
    bool yes = true;
    pmix_proc_t other;

    put_text(PMIX_GLOBAL, "text", letter_of(self.rank), 10);
    put_text(PMIX_LOCAL, "local", letter_of(self.rank), 20);
    put_text(PMIX_REMOTE, "remote", letter_of(self.rank), 30);
    check(PMIx_Commit(), "commit");
    put_text(PMIX_GLOBAL, "long", letter_of(self.rank), LONG);
    put_large();
    check(PMIx_Commit(), "second commit");
    fence();
    for (pmix_rank_t rank = 0; rank < size; rank++) {
        get_text(rank, "text", letter_of(rank), 10);
        get_text(rank, "local", letter_of(rank), 20);
        get_text(rank, "long", letter_of(rank), LONG);
        get_large(rank);
    }
    PMIX_LOAD_PROCID(&other, self.nspace, (self.rank + 1) % size);
    PMIX_INFO_LOAD(&at_once, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    if (PMIx_Get(&other, "nobody's", &at_once, 1, &value) == PMIX_SUCCESS) {
        check(PMIX_ERROR, "what nobody has put");
    }
    own_pid();
    fence();
}

static void again(void)
{
    for (int i = 0; i < 2; i++) {
        fence();
        check(PMIx_Finalize(NULL, 0), "finalize");
        begin();
    }
    fence();
}

/* The child holds the connection open.  Its parent ends without a good-bye all the same. */
static void forks(void)
{
    fence();
    if (self.rank == size - 1) {
        if (fork() == 0) {
            sleep(60);
            _exit(0);
        }
        _exit(7);
    }
    (void)PMIx_Fence(NULL, 0, NULL, 0);
    sleep(60);
}

/* The child has the name of its parent in its environment. */
static void starts(const char *program)
{
    char command[4096];

    snprintf(command, sizeof(command), "'%s' refused", program);
    check(system(command) == 0 ? PMIX_SUCCESS : PMIX_ERROR, "the child");
}

/* ---- output ---------------------------------------------------------------------------------- */

static sem_t done;
static pmix_status_t done_status;
static size_t pull_number;
static const char *go;
static struct {
    char line[16];
    size_t length;
    int count; /* of whole lines */
} pulled;

static void touch(const char *suffix)
{
    char path[4096];

    if (go != NULL) {
        snprintf(path, sizeof(path), "%s.%s", go, suffix);
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    }
}

static void hold(void)
{
    touch("held");
    while (access(go, F_OK) != 0) {
        usleep(10000);
    }
}

static void on_output(size_t number, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t *infos, size_t count)
{
    static bool held;

    (void)number, (void)infos, (void)count;
    check(channel == PMIX_FWD_STDOUT_CHANNEL && source->rank == 1 ? PMIX_SUCCESS : PMIX_ERROR,
          "what is pulled");
    if (go != NULL && !held) {
        held = true;
        hold();
    }
    for (size_t i = 0; i < bytes->size; i++) {
        if (bytes->bytes[i] != '\n') {
            check(pulled.length < sizeof(pulled.line) - 1 ? PMIX_SUCCESS : PMIX_ERROR, "a line");
            pulled.line[pulled.length++] = bytes->bytes[i];
            continue;
        }
        pulled.line[pulled.length] = '\0';
        pulled.length = 0;
        check(atoi(pulled.line) == pulled.count++ ? PMIX_SUCCESS : PMIX_ERROR, "the order");
    }
    if (bytes->size == 0) {
        sem_post(&done);
    }
}

static void on_done(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    done_status = status;
    sem_post(&done);
}

static void on_pulled(pmix_status_t status, size_t number, void *cbdata)
{
    pull_number = number;
    on_done(status, cbdata);
}

static void await(const char *what)
{
    while (sem_wait(&done) != 0) {
    }
    check(done_status, what);
}

static void pull(int lines)
{
    pmix_proc_t other;

    PMIX_LOAD_PROCID(&other, self.nspace, 1);
    sem_init(&done, 0, 0);
    check(PMIx_IOF_pull(&other, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, on_pulled, NULL),
          "pull");
    await("pull");
    fence();
    await("output"); /* its end */
    check(pulled.count == lines ? PMIX_SUCCESS : PMIX_ERROR, "the number of lines");
    check(PMIx_IOF_deregister(pull_number, NULL, 0, on_done, NULL), "deregister");
    await("deregister");
    if (PMIx_IOF_deregister(pull_number + 7, NULL, 0, on_done, NULL) == PMIX_SUCCESS) {
        check(PMIX_ERROR, "what is not pulled is deregistered");
    }
}

static void fence_others(void)
{
    pmix_proc_t others[2];

    PMIX_LOAD_PROCID(&others[0], self.nspace, 2);
    PMIX_LOAD_PROCID(&others[1], self.nspace, 3);
    for (int i = 0; i < 100; i++) {
        check(PMIx_Fence(others, 2, NULL, 0), "a fence of others");
    }
    touch("fenced");
}

static void output(int lines)
{
    if (self.rank == 0) {
        pull(lines);
        return;
    }
    fence();
    if (self.rank > 1) {
        fence_others();
        return;
    }
    for (int i = 0; i < lines; i++) {
        printf("%d\n", i);
    }
    fflush(stdout);
    touch("written");
    close(STDOUT_FILENO);
}

/* ---- fabrics --------------------------------------------------------------------------------- */

static void vendor_print(const pmix_fabric_t *fabric)
{
    for (size_t i = 0; i < fabric->ninfo; i++) {
        if (strcmp(fabric->info[i].key, PMIX_FABRIC_VENDOR) == 0) {
            printf("vendor %s\n", fabric->info[i].value.data.string);
        }
    }
}

static void fabric(void)
{
    pmix_fabric_t fabric = { .name = NULL };
    const pmix_status_t rc = PMIx_Fabric_register(&fabric, NULL, 0);

    /* Release 4.2 of the other library does not return what its server has answered. */
    if (rc == PMIX_ERR_NOT_SUPPORTED || (rc == PMIX_SUCCESS && fabric.ninfo == 0)) {
        printf("no fabric\n");
        return;
    }
    check(rc, "register");
    vendor_print(&fabric);
    check(PMIx_Fabric_update(&fabric), "update");
    vendor_print(&fabric);
    check(PMIx_Fabric_deregister(&fabric), "deregister a fabric");
}

/* ---- events ---------------------------------------------------------------------------------- */

#define CODE_ONE (-3001) /* and the two behind it */
#define CODE_TWO (-3002)
#define CODE_END (-3003)
#define EVENTS 20 /* of the first two, in turns */

static unsigned received[3]; /* by handler */

static void publish(pmix_status_t code)
{
    check(PMIx_Notify_event(code, NULL, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL), "notify");
}

static void on_turn(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t answer, void *cbdata)
{
    static unsigned turn;

    if (code == CODE_END) {
        check(turn == EVENTS ? PMIX_SUCCESS : PMIX_ERROR, "all events");
        sem_post(&done);
    } else {
        check(code == (turn++ % 2 == 0 ? CODE_ONE : CODE_TWO) ? PMIX_SUCCESS : PMIX_ERROR,
              "the order of events");
    }
    answer(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void late(void)
{
    pmix_status_t codes[] = { CODE_TWO, CODE_ONE, CODE_END };

    for (int i = 0; self.rank == 0 && i < EVENTS; i++) {
        publish(i % 2 == 0 ? CODE_ONE : CODE_TWO);
    }
    if (self.rank == 0) {
        publish(CODE_END);
        close(open(go, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    } else {
        sem_init(&done, 0, 0);
        check(PMIx_Register_event_handler(codes, 3, NULL, 0, on_turn, NULL, NULL) >= 0
                  ? PMIX_SUCCESS
                  : PMIX_ERROR,
              "register");
        await("events");
    }
    fence();
}

#define HANDLER(number)                                                                  \
    static void on_##number(size_t id, pmix_status_t code, const pmix_proc_t *source,    \
                            pmix_info_t info[], size_t ninfo, pmix_info_t results[],     \
                            size_t nresults, pmix_event_notification_cbfunc_fn_t answer, \
                            void *cbdata)                                                \
    {                                                                                    \
        received[number]++;                                                              \
        answer(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);                 \
        if (code == CODE_END) {                                                          \
            sem_post(&done);                                                             \
        }                                                                                \
    }
HANDLER(0)
HANDLER(1)
HANDLER(2)

static size_t handler(pmix_status_t *codes, size_t count, pmix_notification_fn_t fn)
{
    const pmix_status_t id = PMIx_Register_event_handler(codes, count, NULL, 0, fn, NULL, NULL);

    check(id >= 0 ? PMIX_SUCCESS : id, "register");
    return (size_t)id;
}

/* The first code goes with its last handler, and comes again with another one. */
static void recode(void)
{
    pmix_status_t both[] = { CODE_ONE, CODE_TWO }, two = CODE_TWO,
                  others[] = { CODE_ONE, CODE_END };
    size_t first;

    sem_init(&done, 0, 0);
    if (self.rank != 0) {
        first = handler(both, 2, on_0);
        (void)handler(&two, 1, on_1);
        check(PMIx_Deregister_event_handler(first, on_done, NULL), "deregister");
        await("deregister");
        (void)handler(others, 2, on_2);
    }
    fence();
    if (self.rank == 0) {
        publish(CODE_ONE);
        publish(CODE_TWO);
        publish(CODE_END);
    } else {
        await("events");
        check(received[0] == 0 && received[1] == 1 && received[2] == 2 ? PMIX_SUCCESS : PMIX_ERROR,
              "who has got what");
    }
    fence();
}

/* ---- devices --------------------------------------------------------------------------------- */

/* Names of devices and their distances, in one number that does not depend on their order. */
static void distances_print(const char *what, const pmix_device_distance_t *at, size_t count)
{
    unsigned long sum = 0;

    for (size_t i = 0; i < count; i++) {
        unsigned long one = at[i].type * 31 + at[i].mindist * 7 + at[i].maxdist;

        for (const char *c = at[i].osname; c != NULL && *c != '\0'; c++) {
            one = one * 131 + (unsigned char)*c;
        }
        sum += one;
    }
    printf("%u: %s: %zu devices, %lu\n", self.rank, what, count, sum);
}

static void devices(void)
{
    pmix_device_distance_t *distances = NULL;
    pmix_topology_t topology = { .source = NULL };
    pmix_cpuset_t cpuset = { .source = NULL };
    pmix_value_t *value = NULL;
    size_t count = 0;
    pmix_status_t rc = PMIx_Get(&self, PMIX_DEVICE_DISTANCES, NULL, 0, &value);

    if (rc != PMIX_SUCCESS) {
        printf("%u: from the server: %s\n", self.rank, PMIx_Error_string(rc));
    } else {
        const pmix_data_array_t *const array = value->data.darray;

        check(array->type == PMIX_DEVICE_DIST ? PMIX_SUCCESS : PMIX_ERR_TYPE_MISMATCH, "the type");
        distances_print("from the server", array->array, array->size);
    }
    check(PMIx_Load_topology(&topology), "the topology");
    check(PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS), "the cpuset");
    rc = PMIx_Compute_distances(&topology, &cpuset, NULL, 0, &distances, &count);
    if (rc != PMIX_SUCCESS) {
        printf("%u: computed: %s\n", self.rank, PMIx_Error_string(rc));
    } else {
        distances_print("computed", distances, count);
    }
}

/* ---- lists of processes ---------------------------------------------------------------------- */

static void lists(void)
{
    pmix_proc_t all, group;
    pmix_info_t *results = NULL;
    pmix_value_t *value;
    size_t count = 0;

    PMIX_LOAD_PROCID(&all, self.nspace, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&group, "all-of-us", PMIX_RANK_WILDCARD);
    check(PMIx_Group_construct(group.nspace, &all, 1, NULL, 0, &results, &count), "construct");
    check(PMIx_Get(&group, PMIX_JOB_SIZE, NULL, 0, &value), "the group's size");
    check(value->data.uint32 == size ? PMIX_SUCCESS : PMIX_ERROR, "the group's size");
    PMIX_VALUE_RELEASE(value);
    check(PMIx_Group_destruct(group.nspace, NULL, 0), "destruct");
    check(PMIx_Connect(&all, 1, NULL, 0), "connect");
    const pmix_status_t rc = PMIx_Get(&self, SHMIX_CONNECTED, NULL, 0, &value);

    printf("%u: connected: %d\n", self.rank, rc);
    if (rc == PMIX_SUCCESS) {
        PMIX_VALUE_RELEASE(value);
    }
    check(PMIx_Disconnect(&all, 1, NULL, 0), "disconnect");
}

static void nameless(void)
{
    static const char *const keys[] = { "before", "", "after" };

    for (size_t i = 0; i < 3; i++) {
        put_text(PMIX_GLOBAL, keys[i], letter_of(self.rank), 1);
    }
    check(PMIx_Commit(), "commit");
    fence();
    for (pmix_rank_t rank = 0; rank < size; rank++) {
        get_text(rank, "before", letter_of(rank), 1);
        get_text(rank, "after", letter_of(rank), 1);
    }
    fence();
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "data";
    const int number = argc > 2 ? atoi(argv[2]) : 0;

    if (strcmp(what, "refused") == 0) {
        return PMIx_Init(NULL, NULL, 0) == PMIX_ERR_UNREACH ? 0 : 1;
    }
    go = argc > 2 && strcmp(what, "late") == 0 ? argv[2] : NULL;
    while (go != NULL && strcmp(getenv("PMIX_RANK"), "0") != 0 && access(go, F_OK) != 0) {
        usleep(10000);
    }
    begin();
    if (strcmp(what, "late") == 0) {
        late();
    } else if (strcmp(what, "recode") == 0) {
        recode();
    } else if (strcmp(what, "pull") == 0) {
        go = argc > 3 ? argv[3] : NULL;
        output(number);
    } else if (strcmp(what, "fabric") == 0) {
        fabric();
    } else if (strcmp(what, "devices") == 0) {
        devices();
    } else if (strcmp(what, "lists") == 0) {
        lists();
    } else if (strcmp(what, "nameless") == 0) {
        nameless();
    } else if (strcmp(what, "starts") == 0) {
        starts(argv[0]);
    } else if (strcmp(what, "data") == 0) {
        data();
    } else if (strcmp(what, "again") == 0) {
        again();
    } else if (strcmp(what, "forks") == 0) {
        forks();
    } else if (strcmp(what, "leave") == 0) {
        fence();
        return number;
    } else if (strcmp(what, "abort") == 0) {
        fence();
        if (self.rank == size - 1) {
            (void)PMIx_Abort(number, "enough", NULL, 0);
        }
        sleep(60);
    } else if (strcmp(what, "wait") == 0) {
        fence();
        printf("%u %d ready\n", self.rank, getpid());
        fflush(stdout);
        if (self.rank != 0) {
            (void)PMIx_Fence(NULL, 0, NULL, 0);
        }
        sleep(60);
    }
    check(PMIx_Finalize(NULL, 0), "finalize");
    printf("%u: ok\n", self.rank);
    return strcmp(what, "exit") == 0 && self.rank == 1 ? number : 0;
}
