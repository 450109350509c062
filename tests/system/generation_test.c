/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* generation_test.c - a value that is put again and again: what its readers map and hold, and that
 * none of them is given an old value.
 *
 * Memory is counted in mappings, in address space and in blocks of the server's segments.
 * SHMIX_TEST_ROUNDS=100000 in the environment makes the long run. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shmix.h>

#include "job.h"
#include "support/sanitized.h"

#define BLOB ((size_t)64 << 10)
#define ROUNDS 1500
#define GIVEN_BACK 2 /* stores that threads give back at one time */
/* What a store of this test may take: 4 MiB of garbage, what lives, and steps of 1 MiB. */
#define STORE_MAX ((size_t)8 << 20)

static pmix_proc_t me;
static char *blob;

static unsigned long rounds_wanted(void)
{
    const char *const text = getenv("SHMIX_TEST_ROUNDS");
    const unsigned long rounds = text != NULL ? strtoul(text, NULL, 10) : 0;

    if (rounds == 0) {
        return ROUNDS;
    }
    alarm(0); /* whoever asks for more waits for more */
    return rounds;
}

static void begin(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(me.rank == (pmix_rank_t)rank);
    blob = malloc(BLOB);
    CHECK(blob != NULL);
}

static void end(void)
{
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    free(blob);
}

static void meet(void)
{
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
}

static void put_blob(unsigned long round)
{
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT };

    memset(blob, (int)(round % 251), BLOB);
    memcpy(blob, &round, sizeof(round));
    value.data.bo.bytes = blob;
    value.data.bo.size = BLOB;
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "blob", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
}

/* Return: the round in which @bytes were put, all of them in the same. */
static unsigned long round_of(const char *bytes, size_t size)
{
    unsigned long round;

    CHECK(size == BLOB);
    memcpy(&round, bytes, sizeof(round));
    CHECK((unsigned char)bytes[size / 2] == round % 251);
    CHECK((unsigned char)bytes[size - 1] == round % 251);
    return round;
}

static pmix_status_t get_round(pmix_rank_t rank, unsigned long *ret_round)
{
    pmix_proc_t proc = me;
    pmix_value_t *value;

    proc.rank = rank;
    const pmix_status_t rc = PMIx_Get(&proc, "blob", NULL, 0, &value);
    if (rc == PMIX_SUCCESS) {
        *ret_round = round_of(value->data.bo.bytes, value->data.bo.size);
        free(value->data.bo.bytes);
        free(value);
    }
    return rc;
}

/* ---- what this process has mapped ----------------------------------------------------------- */

struct mapped {
    unsigned stores;      /* of namespaces: the node's has no name */
    unsigned long newest; /* inode of the last one */
    unsigned all;
    size_t bytes;
};

static struct mapped mapped_now(void)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    struct mapped mapped = { .stores = 0 };
    unsigned long from, to, inode;
    char line[512];

    CHECK(maps != NULL);
    while (fgets(line, sizeof(line), maps) != NULL) {
        CHECK(sscanf(line, "%lx-%lx %*s %*s %*s %lu", &from, &to, &inode) == 3);
        mapped.all++;
        mapped.bytes += to - from;
        if (strstr(line, "shmix:store:") != NULL && strstr(line, "shmix:store: ") == NULL) {
            mapped.stores++;
            mapped.newest = inode;
        }
    }
    fclose(maps);
    return mapped;
}

/* Put until the store of this process's namespace has been renewed @times times and has been looked
 * into.  All ranks do so together.  Return: the last round. */
static unsigned long put_until_renewed(unsigned long round, unsigned times)
{
    shmix_job_t *job;
    uint64_t begun, now;

    CHECK_STATUS(shmix_job_open(NULL, &job), PMIX_SUCCESS);
    CHECK_STATUS(shmix_job_generation(job, &begun), PMIX_SUCCESS);
    do {
        unsigned long seen;

        put_blob(++round);
        meet();
        CHECK_STATUS(get_round(1 - me.rank, &seen), PMIX_SUCCESS);
        CHECK(seen == round);
        meet(); /* nobody puts while another reads */
        CHECK_STATUS(shmix_job_refresh(job), PMIX_SUCCESS);
        CHECK_STATUS(shmix_job_generation(job, &now), PMIX_SUCCESS);
        meet(); /* all have seen the same generation */
    } while (now < begun + times);
    CHECK_STATUS(shmix_job_close(job), PMIX_SUCCESS);
    return round;
}

/* ---- put, commit, fence, get, for ever ------------------------------------------------------- */

static void run_rounds(unsigned long rounds)
{
    struct mapped settled = { .all = 0 }, now = mapped_now();
    unsigned long round, seen, inode = now.newest, renewals = 0;

    for (round = 1; round <= rounds; round++) {
        put_blob(round);
        meet();
        CHECK_STATUS(get_round(1 - me.rank, &seen), PMIX_SUCCESS);
        CHECK(seen == round);
        meet();
        if (round % 50 != 0) {
            continue;
        }
        now = mapped_now();
        CHECK(now.stores == 1);
        renewals += now.newest != inode;
        inode = now.newest;
        if (round == 200) {
            settled = now;
        }
        CHECK(round <= 200 ||
              (now.all <= settled.all + 2 && now.bytes <= settled.bytes + STORE_MAX));
    }
    CHECK(renewals >= 2);
    printf("rank %u: %lu rounds, %u mappings (%u after 200 rounds), %zu MiB of addresses (%zu)\n",
           me.rank, rounds, now.all, settled.all, now.bytes >> 20, settled.bytes >> 20);
}

static int memory_stays_flat(int rank)
{
    const unsigned long rounds = rounds_wanted();

    begin(rank);
    run_rounds(rounds);
    end();
    return 0;
}

static int memory_stays_flat_where_it_is_scarce(int rank)
{
    const struct rlimit limit = { UINT64_C(2000000) << 10, UINT64_C(2000000) << 10 };

    if (SANITIZED) {
        printf("skipped: a sanitizer takes all the addresses there are\n");
        return JOB_SKIPPED;
    }
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    return memory_stays_flat(rank);
}

enum { SEGMENTS_MAX = 16 };

/* Return: what the segments called @name of this process take, and how many they are.  One may have
 * several descriptors. */
static size_t segments_taken(const char *name, unsigned *ret_count)
{
    DIR *const dir = opendir("/proc/self/fd");
    const struct dirent *entry;
    ino_t seen[SEGMENTS_MAX];
    size_t bytes = 0;
    unsigned count = 0, i;

    CHECK(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        char path[300], link[300] = "";
        struct stat st;

        snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        if (readlink(path, link, sizeof(link) - 1) <= 0 || strstr(link, name) == NULL ||
            stat(path, &st) != 0) {
            continue;
        }
        for (i = 0; i < count && seen[i] != st.st_ino; i++) {
        }
        if (i == count) {
            CHECK(count < SEGMENTS_MAX);
            seen[count++] = st.st_ino;
            bytes += (size_t)st.st_blocks * 512;
        }
    }
    closedir(dir);
    *ret_count = count;
    return bytes;
}

static int the_server_keeps_one_store(struct job *job)
{
    size_t most = 0, bytes;
    unsigned count;

    (void)rounds_wanted(); /* how long they take is theirs to say */
    do {
        bytes = segments_taken("shmix:store:" JOB_NSPACE, &count);
        most = bytes > most ? bytes : most;
        /* The one, its next generation, and those that threads are giving back. */
        CHECK(count <= 2 + GIVEN_BACK && bytes <= count * STORE_MAX);
        usleep(1000);
    } while (waitpid(job->pids[0], &job->status[0], WNOHANG) == 0);
    printf("server: a store took up to %zu KiB\n", most >> 10);
    return 0;
}

/* ---- threads that read all along -------------------------------------------------------------- */

enum { THREADS = 3 };

static atomic_ulong fenced; /* the round that everybody has to see by now */
static atomic_bool stop;

static void *never_goes_back(void *arg)
{
    unsigned long last = 0, seen;

    while (!atomic_load(&stop)) {
        const unsigned long least = atomic_load(&fenced);

        CHECK_STATUS(get_round(1 - me.rank, &seen), PMIX_SUCCESS);
        CHECK(seen >= least && seen >= last);
        last = seen;
    }
    return NULL;
}

static int threads_read_all_along(int rank)
{
    pthread_t threads[THREADS];
    unsigned long round = 0;

    begin(rank);
    round = put_until_renewed(round, 1);
    atomic_store(&fenced, round);
    for (int i = 0; i < THREADS && rank == 0; i++) {
        CHECK(pthread_create(&threads[i], NULL, never_goes_back, NULL) == 0);
    }
    for (int i = 0; i < 300; i++) {
        put_blob(++round);
        meet();
        atomic_store(&fenced, round);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS && rank == 0; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    meet();
    (void)put_until_renewed(round, 1); /* with it goes what a reader stood in at the last switch */
    CHECK(mapped_now().stores == 1);
    end();
    return 0;
}

/* ---- pointers ---------------------------------------------------------------------------------- */

static const char *pointer_to(pmix_rank_t rank)
{
    pmix_proc_t proc = me;
    pmix_info_t pointers;
    pmix_value_t *value;

    proc.rank = rank;
    pointers = info_flag(PMIX_GET_POINTER_VALUES);
    CHECK_STATUS(PMIx_Get(&proc, "blob", &pointers, 1, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_BYTE_OBJECT && value->data.bo.size == BLOB);
    return value->data.bo.bytes;
}

static int what_is_pointed_at_stays(int rank)
{
    unsigned long round = 1;

    begin(rank);
    put_blob(round);
    meet();
    const char *const first = pointer_to(1 - me.rank);
    CHECK(round_of(first, BLOB) == 1);
    meet();
    round = put_until_renewed(round, 3);
    CHECK(round_of(first, BLOB) == 1);
    CHECK(mapped_now().stores == 2); /* the first and the newest, not those between */
    const char *const later = pointer_to(1 - me.rank);
    CHECK(round_of(later, BLOB) == round);
    meet();
    (void)put_until_renewed(round, 2);
    CHECK(round_of(first, BLOB) == 1 && round_of(later, BLOB) == round);
    CHECK(mapped_now().stores == 3);
    end();
    CHECK(mapped_now().stores == 0);
    return 0;
}

static void put_number(uint64_t number)
{
    pmix_value_t value = { .type = PMIX_UINT64, .data.uint64 = number };

    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "number", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
}

static int handles_hold_what_was_pointed_at(int rank)
{
    const shmix_key_t *number_key, *blob_key;
    unsigned long round = 1;
    shmix_job_t *job;
    uint64_t number, begun, now;
    const void *bytes;
    size_t size;

    begin(rank);
    CHECK_STATUS(shmix_job_open(NULL, &job), PMIX_SUCCESS);
    CHECK_STATUS(shmix_key_find(job, SHMIX_JOB, "number", &number_key), PMIX_SUCCESS);
    CHECK_STATUS(shmix_key_find(job, SHMIX_JOB, "blob", &blob_key), PMIX_SUCCESS);
    put_number(7);
    put_blob(round);
    meet();
    CHECK_STATUS(shmix_job_generation(job, &begun), PMIX_SUCCESS);
    for (now = begun; now < begun + 3;) { /* numbers are copied */
        put_blob(++round);
        meet();
        CHECK_STATUS(shmix_job_refresh(job), PMIX_SUCCESS);
        CHECK_STATUS(shmix_read_u64(number_key, 1 - me.rank, &number), PMIX_SUCCESS);
        CHECK(number == 7);
        CHECK_STATUS(shmix_job_generation(job, &now), PMIX_SUCCESS);
        CHECK(mapped_now().stores == 1);
        meet();
    }
    CHECK_STATUS(shmix_read_bytes(blob_key, 1 - me.rank, &bytes, &size), PMIX_SUCCESS);
    const unsigned long seen = round_of(bytes, size);
    CHECK(seen == round);
    meet();
    round = put_until_renewed(round, 2);
    CHECK_STATUS(shmix_job_refresh(job), PMIX_SUCCESS);
    CHECK(round_of(bytes, size) == seen);
    CHECK(mapped_now().stores == 2);
    CHECK_STATUS(shmix_job_unpin(job), PMIX_SUCCESS);
    CHECK(mapped_now().stores == 1);
    CHECK_STATUS(shmix_job_close(job), PMIX_SUCCESS);
    meet();
    end();
    return 0;
}

/* ---- what cannot be fetched is not answered from what is old ------------------------------------ */

/* Rank 0 puts until the store has been renewed; rank 1 hears so by a token and looks into it for the
 * first time after that. */
static void renew_behind_the_back(void)
{
    shmix_job_t *job;
    uint64_t begun, now;
    unsigned long round = 1;

    CHECK_STATUS(shmix_job_open(NULL, &job), PMIX_SUCCESS);
    CHECK_STATUS(shmix_job_generation(job, &begun), PMIX_SUCCESS);
    do {
        pmix_proc_t proc = me;
        pmix_value_t *value;

        put_blob(++round);
        /* The answer to a question that nobody can have answered comes when all is taken. */
        CHECK(PMIx_Get(&proc, "nobody.has.this", NULL, 0, &value) != PMIX_SUCCESS);
        proc.rank = 1;
        pmix_info_t at_once;
        at_once = info_flag(PMIX_IMMEDIATE);
        CHECK(PMIx_Get(&proc, "nobody.has.this", &at_once, 1, &value) != PMIX_SUCCESS);
        CHECK_STATUS(shmix_job_refresh(job), PMIX_SUCCESS);
        CHECK_STATUS(shmix_job_generation(job, &now), PMIX_SUCCESS);
    } while (now < begun + 1);
    CHECK_STATUS(shmix_job_close(job), PMIX_SUCCESS);
    put_blob(1000000);
}

static int a_get_says_that_it_cannot_have_the_newest(int rank)
{
    struct rlimit limit, before;
    const shmix_key_t *key;
    shmix_job_t *job;
    unsigned long seen;
    uint64_t begun, now;
    const void *bytes;
    size_t size;

    if (SANITIZED) {
        printf("skipped: a sanitizer takes all the addresses there are\n");
        return JOB_SKIPPED;
    }
    begin(rank);
    put_blob(1);
    meet();
    CHECK_STATUS(get_round(1 - me.rank, &seen), PMIX_SUCCESS);
    CHECK_STATUS(shmix_job_open(NULL, &job), PMIX_SUCCESS);
    CHECK_STATUS(shmix_key_find(job, SHMIX_JOB, "blob", &key), PMIX_SUCCESS);
    CHECK_STATUS(shmix_job_generation(job, &begun), PMIX_SUCCESS);
    meet();
    if (rank == 0) {
        renew_behind_the_back();
    } else {
        free(malloc(4 << 20)); /* what the library itself may need is there */
        CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    }
    meet();
    if (rank == 1) {
        limit = before;
        limit.rlim_cur = mapped_now().bytes + ((rlim_t)2 << 20);
        CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
        CHECK_STATUS(get_round(0, &seen), PMIX_ERR_OUT_OF_RESOURCE);
        CHECK_STATUS(get_round(0, &seen), PMIX_ERR_OUT_OF_RESOURCE);
        CHECK_STATUS(shmix_job_refresh(job), PMIX_ERR_OUT_OF_RESOURCE);
        CHECK_STATUS(shmix_job_generation(job, &now), PMIX_SUCCESS);
        CHECK(now == begun);
        CHECK_STATUS(shmix_read_bytes(key, 0, &bytes, &size), PMIX_SUCCESS);
        CHECK(setrlimit(RLIMIT_AS, &before) == 0);
        CHECK_STATUS(get_round(0, &seen), PMIX_SUCCESS);
        CHECK(seen == 1000000);
        CHECK_STATUS(shmix_job_refresh(job), PMIX_SUCCESS);
        CHECK_STATUS(shmix_read_bytes(key, 0, &bytes, &size), PMIX_SUCCESS);
        CHECK(round_of(bytes, size) == 1000000);
    }
    CHECK_STATUS(shmix_job_close(job), PMIX_SUCCESS);
    meet();
    end();
    return 0;
}

/* A child cannot ask for what came after the fork. */
static int child_reads(int from_parent, int to_parent)
{
    unsigned long seen;
    char token;

    CHECK_STATUS(get_round(1 - me.rank, &seen), PMIX_SUCCESS);
    CHECK(seen == 1);
    CHECK(write(to_parent, "t", 1) == 1);
    CHECK(read(from_parent, &token, 1) == 1);
    CHECK_STATUS(get_round(1 - me.rank, &seen), PMIX_ERR_NOT_AVAILABLE);
    return 0;
}

static int a_forked_child_is_notified_that_it_cannot(int rank)
{
    int to_child[2], to_parent[2], status;
    char token;

    begin(rank);
    put_blob(1);
    meet();
    CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        exit(child_reads(to_child[0], to_parent[1]));
    }
    CHECK(read(to_parent[0], &token, 1) == 1);
    meet();
    (void)put_until_renewed(1, 1);
    CHECK(write(to_child[1], "t", 1) == 1);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    meet();
    end();
    return 0;
}

/* ---- a namespace that ends, and comes again ------------------------------------------------------ */

/* Its name is this run's alone: a job that is not found here is searched for in all servers of the user,
 * such as those of other tests. */
#define OTHER_VARIABLE "GENERATION_TEST_OTHER"
#define OTHER getenv(OTHER_VARIABLE)
enum { TO_HOST, TO_RANK };

static void register_other(uint32_t size)
{
    pmix_proc_t first;
    pmix_info_t info;

    PMIX_LOAD_PROCID(&first, OTHER, 0);

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    pmix_status_t rc = PMIx_server_register_nspace(first.nspace, 1, &info, 1, NULL, NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    rc = PMIx_server_register_client(&first, getuid(), getgid(), NULL, NULL, NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
}

static int host_of_a_namespace_that_comes_again(struct job *job)
{
    register_other(7);
    job_token_put(TO_RANK);
    job_token_get(TO_HOST);
    pmix_nspace_t other;

    PMIX_LOAD_NSPACE(other, OTHER);
    PMIx_server_deregister_nspace(other, NULL, NULL);
    job_token_put(TO_RANK);
    job_token_get(TO_HOST);
    register_other(9);
    job_token_put(TO_RANK);
    (void)job_wait(job, 0);
    return 0;
}

/* The size of the other job, with and without a directive. */
static void check_size(pmix_status_t want, uint32_t size)
{
    pmix_proc_t other;
    pmix_value_t *value;
    pmix_info_t refresh;

    PMIX_LOAD_PROCID(&other, OTHER, PMIX_RANK_WILDCARD);

    refresh = info_flag(PMIX_GET_REFRESH_CACHE);
    for (size_t directives = 0; directives < 2; directives++) {
        const pmix_status_t rc = PMIx_Get(&other, PMIX_JOB_SIZE, &refresh, directives, &value);

        CHECK_STATUS(rc, want);
        if (rc == PMIX_SUCCESS) {
            CHECK(value->data.uint32 == size);
            free(value);
        }
    }
}

static int a_namespace_that_comes_again_is_the_new_one(int rank)
{
    const shmix_key_t *key;
    uint64_t size, first, second;
    shmix_job_t *job;
    pmix_proc_t *procs;
    size_t count;

    begin(rank);
    job_token_get(TO_RANK);
    check_size(PMIX_SUCCESS, 7);
    CHECK_STATUS(shmix_job_open(OTHER, &job), PMIX_SUCCESS);
    CHECK_STATUS(shmix_key_find(job, SHMIX_JOB, PMIX_JOB_SIZE, &key), PMIX_SUCCESS);
    CHECK_STATUS(shmix_read_u64(key, PMIX_RANK_WILDCARD, &size), PMIX_SUCCESS);
    CHECK_STATUS(shmix_job_generation(job, &first), PMIX_SUCCESS);
    CHECK(size == 7 && mapped_now().stores == 2);

    job_token_put(TO_HOST);
    job_token_get(TO_RANK);
    check_size(PMIX_ERR_NOT_FOUND, 0);
    CHECK_STATUS(PMIx_Resolve_peers(NULL, OTHER, &procs, &count), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_job_refresh(job), PMIX_ERR_NOT_FOUND);

    job_token_put(TO_HOST);
    job_token_get(TO_RANK);
    check_size(PMIX_SUCCESS, 9);
    CHECK_STATUS(PMIx_Resolve_peers(NULL, OTHER, &procs, &count), PMIX_SUCCESS);
    PMIx_Proc_free(procs, count);
    CHECK_STATUS(shmix_job_refresh(job), PMIX_SUCCESS);
    CHECK_STATUS(shmix_read_u64(key, PMIX_RANK_WILDCARD, &size), PMIX_SUCCESS);
    CHECK_STATUS(shmix_job_generation(job, &second), PMIX_SUCCESS);
    CHECK(size == 9 && second > first);
    CHECK(mapped_now().stores == 2);
    CHECK_STATUS(shmix_job_close(job), PMIX_SUCCESS);
    end();
    return 0;
}

static const struct job_case cases[] = {
    { "memory_stays_flat", 2, memory_stays_flat, the_server_keeps_one_store },
    { "memory_stays_flat_where_it_is_scarce", 2, memory_stays_flat_where_it_is_scarce,
      the_server_keeps_one_store },
    { "threads_read_all_along", 2, threads_read_all_along },
    { "what_is_pointed_at_stays", 2, what_is_pointed_at_stays },
    { "handles_hold_what_was_pointed_at", 2, handles_hold_what_was_pointed_at },
    { "a_get_says_that_it_cannot_have_the_newest", 2, a_get_says_that_it_cannot_have_the_newest },
    { "a_forked_child_is_told_that_it_cannot", 2, a_forked_child_is_notified_that_it_cannot },
    { "a_namespace_that_comes_again_is_the_new_one", 1, a_namespace_that_comes_again_is_the_new_one,
      host_of_a_namespace_that_comes_again },
};

int main(int argc, char **argv)
{
    char name[64];

    snprintf(name, sizeof(name), "test.other.%d", getpid());
    setenv(OTHER_VARIABLE, name, 0); /* the ranks have it from the host */
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
