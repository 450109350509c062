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
 *
 * A rank prints "RANK: ok" at its end. */
#include <pmix.h>
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

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "data";
    const int number = argc > 2 ? atoi(argv[2]) : 0;

    if (strcmp(what, "refused") == 0) {
        return PMIx_Init(NULL, NULL, 0) == PMIX_ERR_UNREACH ? 0 : 1;
    }
    begin();
    if (strcmp(what, "starts") == 0) {
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
