/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* recorder.c - a mapped file for each process, made at its first call.
 *
 *     the first call --the variable names a folder--> the file --> a record for each call
 *            \--no variable, no room--> calls pass through, with one line on stderr for the latter
 *
 * Blocks are reserved before a record is written: writing to a mapped file on a full disk would
 * kill the process.  Memory and disk are bounded by the number of records. */
#include "trace/recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "trace/names.h"

#define STEP 2048u /* records whose blocks are reserved at once */
#define FILES_MAX 100

static struct sx_trace_header *header; /* NULL: nothing is recorded */
static int file_fd = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;
static __thread uint32_t own_tid __attribute__((tls_model("initial-exec")));
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the library behind ---------------------------------------------------------------------- */

/* A plugin that was loaded for itself has brought its library with it: it is not behind us in the
 * order of the program, but it is loaded. */
void *sx_trace_next(const char *name)
{
    static const char *const files[] = { "libpmix.so.2", "libpmix.so" };
    void *found = dlsym(RTLD_NEXT, name);

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && found == NULL; i++) {
        void *const library = dlopen(files[i], RTLD_LAZY | RTLD_NOLOAD);

        if (library != NULL) {
            found = dlsym(library, name);
            dlclose(library); /* it stays: whoever has loaded it holds it */
        }
    }
    return found;
}

/* ---- the file -------------------------------------------------------------------------------- */

static uint32_t capacity_wanted(void)
{
    const char *const text = getenv(SX_TRACE_RECORDS_VARIABLE);
    const long long number = text == NULL ? 0 : atoll(text);

    return number > 0 && number <= SX_TRACE_RECORDS_MAX ? (uint32_t)number : SX_TRACE_RECORDS;
}

static size_t file_size(uint32_t records)
{
    return sizeof(struct sx_trace_header) + (size_t)records * sizeof(struct sx_trace_record);
}

/* A process that executes another program keeps its number: then the name has a second one. */
static int file_make(const char *dir)
{
    char path[4096];
    int fd = -1;

    for (int i = 0; i < FILES_MAX && fd < 0; i++) {
        snprintf(path, sizeof(path), "%s/%ld-%d.trace", dir, (long)getpid(), i);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST) {
            break;
        }
    }
    return fd;
}

static void program_find(char ret[256])
{
    const ssize_t len = readlink("/proc/self/exe", ret, 255);

    ret[len > 0 ? len : 0] = '\0';
}

static void library_find(char ret[128])
{
    const char *(*const version)(void) = (const char *(*)(void))sx_trace_next("PMIx_Get_version");

    if (version != NULL) {
        snprintf(ret, 128, "%s", version());
    }
}

/* Map the pages of records @first to @end at once: a fault for each costs more (Linux 5.14). */
static void pages_populate(struct sx_trace_header *made, uint32_t first, uint32_t end)
{
#ifdef MADV_POPULATE_WRITE
    const size_t page = 4096, begin = file_size(first) / page * page;

    (void)madvise((char *)made + begin, file_size(end) - begin, MADV_POPULATE_WRITE);
#else
    (void)made;
    (void)first;
    (void)end;
#endif
}

/* Return: false with errno. */
static bool file_map(int fd, uint32_t capacity)
{
    const uint32_t first = capacity < STEP ? capacity : STEP;
    const int why = ftruncate(fd, (off_t)file_size(capacity)) != 0
                        ? errno
                        : posix_fallocate(fd, 0, (off_t)file_size(first));
    struct sx_trace_header *made = MAP_FAILED;

    if (why == 0) {
        made = mmap(NULL, file_size(capacity), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    } else {
        errno = why;
    }
    if (made == MAP_FAILED) {
        return false;
    }
    made->record_size_bytes = sizeof(struct sx_trace_record);
    made->capacity = capacity;
    made->function_count = SX_TRACE_FUNCTIONS;
    made->pid = (uint32_t)getpid();
    program_find(made->program);
    library_find(made->library);
    /* relaxed: no other thread has it yet. */
    atomic_store_explicit(&made->room, first, memory_order_relaxed);
    /* R0 -> A0 (the reader): seeing the magic means seeing the fields before it. */
    atomic_store_explicit(&made->magic, SX_TRACE_MAGIC, memory_order_release);
    pages_populate(made, 0, first);
    header = made;
    return true;
}

/* A child goes on in the file of its parent, with the one thread that it has. */
static void child_begin(void)
{
    own_tid = 0;
    pthread_mutex_init(&growing, NULL);
}

static void file_open(void)
{
    const char *const dir = getenv(SX_TRACE_DIR_VARIABLE);

    if (dir == NULL) {
        return;
    }
    pthread_atfork(NULL, NULL, child_begin);
    file_fd = file_make(dir);
    if (file_fd < 0 || !file_map(file_fd, capacity_wanted())) {
        fprintf(stderr, "shmix trace: process %ld is not recorded: no file in %s (%s)\n",
                (long)getpid(), dir, strerror(errno));
    }
}

/* Reserve blocks of records up to @wanted.  Return: false when the disk is full. */
static bool blocks_reserve(uint32_t room, uint32_t wanted)
{
    const off_t begin = (off_t)file_size(room);
    const int why = posix_fallocate(file_fd, begin, (off_t)file_size(wanted) - begin);

    if (why != 0) {
        /* relaxed: only shown, and read under the lock. */
        atomic_store_explicit(&header->error, (uint32_t)why, memory_order_relaxed);
        return false;
    }
    pages_populate(header, room, wanted);
    /* relaxed: the blocks were there before any thread learns of them. */
    atomic_store_explicit(&header->room, wanted, memory_order_relaxed);
    return true;
}

/* Reserve blocks up to record @index; once it has failed, it is not tried again. */
static bool room_make(uint64_t index)
{
    pthread_mutex_lock(&growing);
    /* relaxed: both are changed under the lock. */
    const uint32_t room = atomic_load_explicit(&header->room, memory_order_relaxed);
    const bool failed = atomic_load_explicit(&header->error, memory_order_relaxed) != 0;
    const uint64_t wanted = index + STEP < header->capacity ? index + STEP : header->capacity;
    const bool good = index < room || (!failed && blocks_reserve(room, (uint32_t)wanted));

    pthread_mutex_unlock(&growing);
    return good;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct sx_trace_record *claim(void)
{
    pthread_once(&once, file_open);
    if (header == NULL) {
        return NULL;
    }
    /* relaxed: the number alone is shared by it. */
    const uint64_t index = atomic_fetch_add_explicit(&header->next, 1, memory_order_relaxed);

    if (index >= header->capacity ||
        (index >= atomic_load_explicit(&header->room, memory_order_relaxed) && !room_make(index))) {
        return NULL;
    }
    return (struct sx_trace_record *)(void *)((char *)header + sizeof(*header)) + index;
}

void sx_trace_begin(struct sx_trace_call *call, uint16_t function)
{
    call->record = depth++ == 0 ? claim() : NULL;
    if (call->record == NULL) {
        return;
    }
    if (own_tid == 0) {
        own_tid = (uint32_t)syscall(SYS_gettid);
    }
    call->record->function = function;
    call->record->tid = own_tid;
}

void sx_trace_go(struct sx_trace_call *call)
{
    struct sx_trace_record *const record = call->record;

    if (record != NULL) {
        record->begin_ns = now_ns();
        /* R1 -> A1 (the reader): the fields before it are there. */
        atomic_store_explicit(&record->state, SX_TRACE_BEGUN, memory_order_release);
    }
}

void sx_trace_end(struct sx_trace_call *call, pmix_status_t status)
{
    struct sx_trace_record *const record = call->record;

    depth--;
    if (record != NULL) {
        record->end_ns = now_ns();
        record->status = status;
        /* R2 -> A1 (the reader): as above. */
        atomic_store_explicit(&record->state, SX_TRACE_ENDED, memory_order_release);
    }
}

static uint32_t job_size(const pmix_proc_t *self)
{
    __typeof__(PMIx_Get) *const get = (__typeof__(PMIx_Get) *)sx_trace_next("PMIx_Get");
    pmix_proc_t job = *self;
    pmix_value_t *value = NULL;
    uint32_t size = 0;

    job.rank = PMIX_RANK_WILDCARD;
    if (get != NULL && get(&job, PMIX_JOB_SIZE, NULL, 0, &value) == PMIX_SUCCESS) {
        size = value->type == PMIX_UINT32 ? value->data.uint32 : 0;
        free(value); /* a number owns no more memory */
    }
    return size;
}

void sx_trace_self(const pmix_proc_t *self)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;

    if (header == NULL || self == NULL || atomic_flag_test_and_set(&done)) {
        return;
    }
    header->rank = self->rank;
    snprintf(header->nspace, sizeof(header->nspace), "%s", self->nspace);
    depth++;
    header->size = job_size(self);
    depth--;
    /* R3 -> A3 (the reader): the name is whole. */
    atomic_store_explicit(&header->named, 1, memory_order_release);
}

/* ---- notes ----------------------------------------------------------------------------------- */

static uint32_t proc_hash(const pmix_proc_t *proc)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (const char *at = proc->nspace; at < proc->nspace + PMIX_MAX_NSLEN && *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    }
    return (hash ^ proc->rank) * 2654435761u;
}

/* The first bytes of @text. */
static void text_copy(char *ret, size_t size, const char *text)
{
    const size_t len = strnlen(text, size - 1);

    memcpy(ret, text, len);
    ret[len] = '\0';
}

void sx_trace_procs(struct sx_trace_call *call, const pmix_proc_t *procs, size_t count)
{
    struct sx_trace_record *const record = call->record;

    if (record == NULL || procs == NULL || count == 0) {
        return;
    }
    record->proc_count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    record->rank = procs[0].rank;
    text_copy(record->nspace, sizeof(record->nspace), procs[0].nspace);
    for (size_t i = 0; count > 1 && i < count; i++) {
        record->procs_hash += proc_hash(&procs[i]);
    }
}

void sx_trace_text(struct sx_trace_call *call, const char *text)
{
    if (call->record != NULL && text != NULL) {
        text_copy(call->record->key, sizeof(call->record->key), text);
    }
}

/* ---- callbacks ------------------------------------------------------------------------------- */

/* The call and its callback end in either order, and the second end releases the memory.  A library
 * that calls back although the call has returned an error does so inside the call. */
enum back_state { BOTH_OPEN, RETURNED, CALLED };

struct sx_trace_back *sx_trace_back_new(struct sx_trace_call *call, sx_trace_fn fn, void *cbdata)
{
    struct sx_trace_back *back = NULL;

    if (fn != NULL && call->record != NULL && (back = malloc(sizeof(*back))) != NULL) {
        call->record->flags |= SX_TRACE_CALLS_BACK;
        *back = (struct sx_trace_back){ .record = call->record, .fn = fn, .cbdata = cbdata };
    }
    return back;
}

/* acq_rel: the second end has seen all that the first one did with the memory. */
static bool is_second(struct sx_trace_back *back, int state)
{
    return atomic_exchange_explicit(&back->state, state, memory_order_acq_rel) != BOTH_OPEN;
}

void sx_trace_back_done(struct sx_trace_back *back, pmix_status_t status)
{
    if (back != NULL && (is_second(back, RETURNED) || status < 0)) {
        free(back);
    }
}

struct sx_trace_given sx_trace_back_take(void *cbdata, pmix_status_t status)
{
    struct sx_trace_back *const back = cbdata;
    const struct sx_trace_given given = { .fn = back->fn, .cbdata = back->cbdata };

    back->record->back_status = status;
    /* R4 -> A4 (the reader): the status is there. */
    atomic_store_explicit(&back->record->back_ns, now_ns(), memory_order_release);
    if (is_second(back, CALLED)) {
        free(back);
    }
    return given;
}
