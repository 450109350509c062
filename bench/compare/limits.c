/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* limits.c - what the machine itself takes: the floor under every figure of a library.
 *
 * Question:  what do a line's way between two CPUs, a futex wake, a probe of a private hash table, a
 *            copy of 1 MiB, a system call and a look at the clock take here, and for how long does the
 *            machine take the CPU away from a process that wants it (noise)?
 * Predict:   a line 50 to 300 ns, a wake 3 us on one CPU and 10 to 30 across, a probe 30 ns, a copy
 *            50 to 300 us into fresh memory, a system call 50 to 200 ns, the clock 20 to 50 ns.
 * Method:    no library at all.  What is short is timed in batches, one batch a sample; ping-pongs count
 *            half a round trip; the first tenth is warm-up.  Noise: look at the clock without pause on one
 *            CPU; each gap of 1 us and more is a sample, lost_ppm is their share of the time.
 * Varies:    nothing.  Fixed: a table of 65,536 strings, half full.  Control: the clock.
 * usage: limits [ROUNDS] | limits noise [MILLISECONDS] */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cpus.h"
#include "../hist.h"

#define BATCH 256u
#define LINE_BYTES 64
#define COPY_BYTES (1u << 20)
#define GAP_NS 1000u

static struct hist hist;
static cpu_set_t allowed;
static uint64_t checksum;

static void report(const char *what, unsigned batch)
{
    if (hist.count == 0) {
        printf("{\"what\": \"%s\", \"skipped\": \"there is one CPU\"}\n", what);
    } else {
        hist_print_batch(&hist, what, batch, "");
    }
    memset(&hist, 0, sizeof(hist));
}

/* ---- batches ------------------------------------------------------------------------------------ */

static void clock_batch(void)
{
    for (unsigned i = 0; i < BATCH; i++) {
        checksum += hist_now_ns();
    }
}

static void syscall_batch(void)
{
    for (unsigned i = 0; i < BATCH; i++) {
        checksum += (uint64_t)syscall(SYS_getppid);
    }
}

#define TABLE_SLOTS 65536u
#define NAME_BYTES 24

static struct slot {
    char name[NAME_BYTES];
    uint64_t next;
} * table;

static uint64_t name_hash(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *name != '\0'; name++) {
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    }
    return hash ^ hash >> 32;
}

static struct slot *slot_of(const char *name)
{
    uint64_t at = name_hash(name) % TABLE_SLOTS;

    while (table[at].name[0] != '\0' && strcmp(table[at].name, name) != 0) {
        at = (at + 1) % TABLE_SLOTS;
    }
    return &table[at];
}

static void name_of(char name[NAME_BYTES], uint64_t number)
{
    static const char digits[] = "0123456789abcdef";

    memcpy(name, "bench.key.", 10);
    for (int i = 0; i < 4; i++) {
        name[10 + i] = digits[number >> (4 * i) & 15];
    }
    name[14] = '\0';
}

static bool table_fill(void)
{
    table = calloc(TABLE_SLOTS, sizeof(*table));
    for (uint64_t i = 0; table != NULL && i < TABLE_SLOTS / 2; i++) {
        char name[NAME_BYTES];

        name_of(name, i);
        struct slot *const slot = slot_of(name);

        memcpy(slot->name, name, sizeof(name));
        slot->next = (i * 20021 + 7) % (TABLE_SLOTS / 2);
    }
    return table != NULL;
}

/* Each name is made of the value found before, so that no two probes overlap. */
static void probe_batch(void)
{
    static uint64_t number;

    for (unsigned i = 0; i < BATCH; i++) {
        char name[NAME_BYTES];

        name_of(name, number);
        number = slot_of(name)->next;
    }
    checksum += number;
}

static void batches(void (*batch)(void), const char *what, unsigned rounds)
{
    for (unsigned i = 0; i < rounds + rounds / 10; i++) {
        const uint64_t begin_ns = hist_now_ns();

        batch();
        if (i >= rounds / 10) {
            hist_add(&hist, hist_now_ns() - begin_ns);
        }
    }
    report(what, BATCH);
}

/* ---- copies -------------------------------------------------------------------------------------- */

static void copies(const char *what, bool fresh, unsigned rounds)
{
    char *const from = malloc(COPY_BYTES);
    char *to = NULL;

    if (from == NULL) {
        exit(1);
    }
    memset(from, 7, COPY_BYTES);
    for (unsigned i = 0; i < rounds + 2; i++) {
        const uint64_t begin_ns = hist_now_ns();

        if (to == NULL) {
            to = mmap(NULL, COPY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        }
        if (to == MAP_FAILED) {
            exit(1);
        }
        memcpy(to, from, COPY_BYTES);
        if (i >= 2) {
            hist_add(&hist, hist_now_ns() - begin_ns);
        }
        checksum += (unsigned char)to[COPY_BYTES - 1];
        if (fresh) {
            munmap(to, COPY_BYTES);
            to = NULL;
        }
    }
    free(from);
    report(what, 1);
}

/* ---- ping-pongs ----------------------------------------------------------------------------------- */

struct pair {
    _Alignas(LINE_BYTES) _Atomic uint32_t there;
    _Alignas(LINE_BYTES) _Atomic uint32_t back;
};

static struct pair *pair_new(void)
{
    struct pair *const pair = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                   -1, 0);

    if (pair == MAP_FAILED) {
        exit(1);
    }
    return pair;
}

static void line_await(const _Atomic uint32_t *word, uint32_t value)
{
    for (unsigned looks = 1; atomic_load_explicit(word, memory_order_acquire) != value; looks++) {
        if (looks % 65536 == 0) {
            sched_yield(); /* somebody else may hold the other CPU */
        }
    }
}

static void line_ping_pong(unsigned rounds)
{
    struct pair *const pair = pair_new();
    const uint32_t count = (rounds + rounds / 10) * BATCH;
    const pid_t pid = CPU_COUNT(&allowed) < 2 ? -1 : fork();

    if (pid == 0) {
        cpus_bind(&allowed, 1);
        for (uint32_t i = 1; i <= count; i++) {
            line_await(&pair->there, i);
            atomic_store_explicit(&pair->back, i, memory_order_release);
        }
        _exit(0);
    }
    cpus_bind(&allowed, 0);
    uint64_t begin_ns = hist_now_ns();

    for (uint32_t i = 1; pid > 0 && i <= count; i++) {
        atomic_store_explicit(&pair->there, i, memory_order_release);
        line_await(&pair->back, i);
        if (i % BATCH == 0) {
            if (i > rounds / 10 * BATCH) {
                hist_add(&hist, hist_now_ns() - begin_ns);
            }
            begin_ns = hist_now_ns();
        }
    }
    if (pid > 0) {
        waitpid(pid, NULL, 0);
    }
    munmap(pair, 4096);
    report("line_transfer", 2 * BATCH);
}

static void futex_give(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void futex_take(_Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load(word) != value) {
        syscall(SYS_futex, word, FUTEX_WAIT, value - 1, NULL, NULL, 0);
    }
}

static void wake_ping_pong(const char *what, int other_cpu, unsigned rounds)
{
    struct pair *const pair = pair_new();
    const uint32_t count = rounds + rounds / 10;
    const pid_t pid = other_cpu >= CPU_COUNT(&allowed) ? -1 : fork();

    if (pid == 0) {
        cpus_bind(&allowed, other_cpu);
        for (uint32_t i = 1; i <= count; i++) {
            futex_take(&pair->there, i);
            futex_give(&pair->back, i);
        }
        _exit(0);
    }
    cpus_bind(&allowed, 0);
    for (uint32_t i = 1; pid > 0 && i <= count; i++) {
        const uint64_t begin_ns = hist_now_ns();

        futex_give(&pair->there, i);
        futex_take(&pair->back, i);
        if (i > rounds / 10) {
            hist_add(&hist, (hist_now_ns() - begin_ns) / 2);
        }
    }
    if (pid > 0) {
        waitpid(pid, NULL, 0);
    }
    munmap(pair, 4096);
    report(what, 1);
}

/* ---- noise ------------------------------------------------------------------------------------------ */

static void noise(unsigned milliseconds)
{
    const uint64_t begin_ns = hist_now_ns();
    const uint64_t end_ns = begin_ns + milliseconds * UINT64_C(1000000);
    uint64_t before_ns = begin_ns, lost_ns = 0;
    char more[96];

    while (before_ns < end_ns) {
        const uint64_t now_ns = hist_now_ns();

        if (now_ns - before_ns >= GAP_NS) {
            hist_add(&hist, now_ns - before_ns);
            lost_ns += now_ns - before_ns;
        }
        before_ns = now_ns;
    }
    snprintf(more, sizeof(more), ", \"lost_ppm\": %llu, \"watched_ms\": %u",
             (unsigned long long)(lost_ns * 1000000 / (before_ns - begin_ns)), milliseconds);
    hist_print(&hist, "noise", more);
}

int main(int argc, char **argv)
{
    const bool quiet = argc > 1 && strcmp(argv[1], "noise") == 0;
    const char *const number = argc > 1 + quiet ? argv[1 + quiet] : "100";
    const unsigned rounds = (unsigned)strtoul(number, NULL, 10);

    if (rounds < 1 || rounds > 100000 || sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        fprintf(stderr, "limits: rounds or milliseconds from 1 to 100000\n");
        return 1;
    }
    if (quiet) {
        noise(rounds);
        return 0;
    }
    batches(clock_batch, "clock", rounds);
    batches(syscall_batch, "syscall", rounds);
    if (!table_fill()) {
        return 1;
    }
    batches(probe_batch, "hash_probe", rounds);
    copies("copy_1mib_fresh", true, rounds);
    copies("copy_1mib", false, rounds);
    line_ping_pong(rounds);
    wake_ping_pong("wake_same_cpu", 0, rounds * 10);
    wake_ping_pong("wake", 1, rounds * 10);
    noise(rounds);
    printf("{\"what\": \"checksum\", \"value\": %llu}\n", (unsigned long long)checksum);
    return 0;
}
