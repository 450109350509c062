/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* blob_test.c - what ranks have put becomes bytes, and bytes of other nodes are read whole, in any
 * order and alignment, or refused. */
#include "server/model/blob.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../bare.h"
#include "unit/control/engines.h"

static struct sx_server server;
static struct sx_nspace *job;
static struct sx_blob blob;

/* Ranks 0 and 1 of four are here. */
static void begin(void)
{
    bare_init(&server);
    job = bare_job(&server, "job", 4, 2);
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    cr_assert_eq(sx_blob_begin(&blob), PMIX_SUCCESS);
}

static void end(void)
{
    sx_blob_clear(&blob);
    bare_deinit(&server);
}

TestSuite(blob, .init = begin, .fini = end);

/* ---- what is read ---------------------------------------------------------------------------- */

static unsigned count;
static uint32_t ranks[8];
static char keys[8][16];
static uint32_t lens[8]; /* of the values */
static pmix_status_t verdict;

static pmix_status_t on_message(void *arg, struct sx_nspace *nspace, uint32_t rank,
                                const struct sx_blob_piece *put, size_t *left)
{
    const struct sx_lane_put *const head = (const void *)put->bytes;

    (void)left;
    cr_assert_null(arg);
    if (nspace == NULL) {
        return PMIX_SUCCESS;
    }
    cr_assert_eq(nspace, job);
    cr_assert_lt(count, SX_COUNT(ranks));
    cr_assert_eq((uintptr_t)head % 8, 0);
    cr_assert_lt(head->key_len, sizeof(keys[0]));
    ranks[count] = rank;
    memset(keys[count], 0, sizeof(keys[0]));
    memcpy(keys[count], head + 1, head->key_len);
    lens[count] = head->cell.len;
    count++;
    return verdict;
}

/* Read in steps of @bytes_max.  Return: the status of the last one. */
static pmix_status_t read_steps(const struct sx_blob_piece *piece, size_t bytes_max)
{
    struct sx_blob_reader reader = { .pieces = piece, .piece_count = 1 };
    pmix_status_t rc;

    count = 0;
    do {
        size_t left = bytes_max;

        rc = sx_blob_read_step(&reader, &server, on_message, NULL, &left);
        cr_assert(rc != PMIX_ERR_WOULD_BLOCK || left == 0, "a step does what it may");
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    return rc;
}

static pmix_status_t read_all(const char *bytes, size_t size)
{
    char *copy;

    cr_assert_eq(sx_blob_align(&bytes, size, &copy), PMIX_SUCCESS);
    const struct sx_blob_piece piece = { bytes, size };
    const pmix_status_t rc = read_steps(&piece, SIZE_MAX);
    const unsigned read = count;

    cr_expect_eq(read_steps(&piece, 1), rc, "in the smallest steps, too");
    cr_expect_eq(count, read);
    free(copy);
    return rc == PMIX_ERR_UNPACK_FAILURE ? sx_blob_refuse(size, "a fence", "job") : rc;
}

/* One message of @rank, with @key. */
static void add(struct sx_blob *to, const char *nspace, uint32_t rank, const char *key)
{
    _Alignas(8) char put[64] = { 0 };
    struct sx_news messages = { .begin = 0 };

    ((struct sx_lane_put *)(void *)put)->key_len = (uint16_t)strlen(key);
    memcpy(put + sizeof(struct sx_lane_put), key, strlen(key));
    cr_assert_eq(sx_news_add(&messages, put, sizeof(struct sx_lane_put) + 8), PMIX_SUCCESS);
    cr_assert_eq(sx_blob_add_messages(to, nspace, rank, sx_news_at(&messages, 0), messages.end),
                 PMIX_SUCCESS);
    sx_news_drop(&messages);
}

/* ---- tests ----------------------------------------------------------------------------------- */

Test(blob, without_anything_in_it_is_one)
{
    cr_expect_gt(blob.size, 0);
    cr_expect_eq(read_all(blob.bytes, blob.size), PMIX_SUCCESS);
    cr_expect_eq(read_all(NULL, 0), PMIX_SUCCESS, "and so is nothing");
    cr_expect_eq(count, 0);
}

Test(blob, of_others_is_read_and_what_is_known_here_is_passed_over)
{
    add(&blob, "job", 2, "two");
    add(&blob, "job", 0, "own");
    add(&blob, "unknown", 3, "strange");
    add(&blob, "job", SX_STORE_ROW_MAX, "no such rank");
    cr_assert_eq(sx_blob_add_messages(&blob, "job", 3, NULL, 0), PMIX_SUCCESS);
    add(&blob, "job", 3, "three");
    cr_expect_eq(read_all(blob.bytes, blob.size), PMIX_SUCCESS);
    cr_assert_eq(count, 2);
    cr_expect_eq(ranks[0], 2);
    cr_expect_str_eq(keys[0], "two");
    cr_expect_eq(ranks[1], 3);
    cr_expect_str_eq(keys[1], "three");
}

/* News may refer to values of the store, as it is when they are sent. */
Test(blob, of_news_has_the_values_to_which_they_refer)
{
    const pmix_value_t value = { .type = PMIX_STRING, .data.string = "long" };
    struct sx_client *const client = sx_client_find(job, 1);
    _Alignas(8) char put[64] = { 0 };

    memcpy(put + sizeof(struct sx_lane_put), "plain", 5);
    ((struct sx_lane_put *)(void *)put)->key_len = 5;
    cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, 1, "long", PMIX_GLOBAL, &value),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, 1, "local", PMIX_LOCAL, &value),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_news_refer(&client->news, "long"), PMIX_SUCCESS);
    cr_assert_eq(sx_news_refer(&client->news, "long"), PMIX_SUCCESS);
    cr_assert_eq(sx_news_add(&client->news, put, sizeof(struct sx_lane_put) + 8), PMIX_SUCCESS);
    cr_assert_eq(sx_news_refer(&client->news, "gone"), PMIX_SUCCESS);
    cr_assert_eq(sx_news_refer(&client->news, "local"), PMIX_SUCCESS);
    cr_assert_eq(sx_blob_add_news(&blob, client), PMIX_SUCCESS);
    sx_news_drop(&client->news);
    add(&blob, "job", 2, "behind");
    sx_nspace_remove(&server, job); /* and read it on another node */
    job = bare_job(&server, "job", 4, 0);
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    cr_expect_eq(read_all(blob.bytes, blob.size), PMIX_SUCCESS);
    cr_assert_eq(count, 3);
    cr_expect_str_eq(keys[0], "long");
    cr_expect_str_eq(keys[1], "plain");
    cr_expect_str_eq(keys[2], "behind");
}

/* Only the last reference to a key counts, of those that there were when it began. */
Test(blob, of_news_has_a_value_once)
{
    const pmix_value_t value = { .type = PMIX_STRING, .data.string = "long" };
    struct sx_client *const client = sx_client_find(job, 1);
    struct sx_news_pack pack;
    size_t left = SIZE_MAX;

    for (unsigned i = 0; i < 6; i++) {
        const char *const key = i % 2 == 0 ? "even" : "odd";

        if (i == 4) {
            cr_assert_eq(sx_news_pack_begin(&pack, &blob, client), PMIX_SUCCESS);
        }
        cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, 1, key, PMIX_GLOBAL, &value),
                     PMIX_SUCCESS);
        cr_assert_eq(sx_news_refer(&client->news, key), PMIX_SUCCESS);
    }
    cr_assert_eq(sx_news_pack_step(&pack, &blob, &left), PMIX_SUCCESS);
    sx_news_drop(&client->news);
    sx_nspace_remove(&server, job); /* and read it on another node */
    job = bare_job(&server, "job", 4, 0);
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    cr_expect_eq(read_all(blob.bytes, blob.size), PMIX_SUCCESS);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(keys[0], "even");
    cr_expect_str_eq(keys[1], "odd");
}

#define LONG ((size_t)3 << 20)
#define STEP ((size_t)256 << 10)

/* Store a long value of @letter. */
static void long_put(char letter)
{
    char *const bytes = malloc(LONG);
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { bytes, LONG } };

    cr_assert_not_null(bytes);
    memset(bytes, letter, LONG);
    cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, 1, "long", PMIX_GLOBAL, &value),
                 PMIX_SUCCESS);
    free(bytes);
}

/* The value changes, or moves, or goes, before the step of this number; or nothing does. */
enum change { STAYS, CHANGES, MOVES, CHANGES_ALWAYS, GOES, ARRIVES };

static void change(enum change what, unsigned step, struct sx_client *client)
{
    if (what == CHANGES_ALWAYS || (what == CHANGES && step == 3)) {
        long_put((char)('b' + step));
    } else if (what == MOVES && step == 3) {
        cr_assert_eq(sx_store_renew(&job->store), PMIX_SUCCESS);
    } else if (what == GOES && step == 3) {
        cr_assert_eq(sx_store_unset(&job->store, SX_REALM_JOB, 1, "long"), PMIX_SUCCESS);
    } else if (what == ARRIVES && step == 3) { /* by another fence */
        sx_news_arrived(&client->news, sx_news_end(&client->news));
    }
}

/* Expect a value of LONG bytes of one letter in the blob. */
static void letter_expect(const char *at)
{
    const char letter = *at;
    size_t same = 0;

    while (same < LONG && at[same] == letter) {
        same++;
    }
    cr_expect_eq(same, LONG, "%c behind %c", at[same], letter);
}

/* No step copies more than it may, and the bytes are as if they had been made at once.  A value that
 * is put again meanwhile goes as it was, in one piece; it is news again. */
Test(blob, of_long_news_is_made_in_steps)
{
    struct sx_client *const client = sx_client_find(job, 1);

    for (enum change what = STAYS; what <= ARRIVES; what++) {
        struct sx_blob whole = { 0 };
        struct sx_news_pack pack;
        unsigned steps = 0;
        size_t left;
        pmix_status_t rc;

        long_put('a');
        cr_assert_eq(sx_news_refer(&client->news, "long"), PMIX_SUCCESS);
        sx_blob_clear(&blob);
        cr_assert_eq(sx_blob_begin(&blob), PMIX_SUCCESS);
        cr_assert_eq(sx_news_pack_begin(&pack, &blob, client), PMIX_SUCCESS);
        do {
            const uint64_t before = pack.value.copied;

            change(what, steps++, client);
            left = STEP;
            rc = sx_news_pack_step(&pack, &blob, &left);
            cr_expect(pack.value.copied <= before + STEP || what == CHANGES_ALWAYS, "%d: %u", what,
                      steps);
        } while (rc == PMIX_ERR_WOULD_BLOCK);
        cr_assert_eq(rc, PMIX_SUCCESS);
        cr_expect(steps >= (what <= MOVES ? LONG / STEP : 4) && steps <= 2 * LONG / STEP, "%d: %u",
                  what, steps);
        cr_assert_eq(sx_blob_begin(&whole), PMIX_SUCCESS);
        cr_assert_eq(sx_blob_add_news(&whole, client), PMIX_SUCCESS);
        cr_assert_eq(blob.size, whole.size, "%d", what);
        if (what == CHANGES || what == CHANGES_ALWAYS) {
            letter_expect(blob.bytes + blob.size - LONG);
        } else {
            cr_expect_eq(memcmp(blob.bytes, whole.bytes, whole.size), 0, "%d", what);
        }
        sx_blob_clear(&whole);
        sx_blob_clear(&blob);
        sx_news_arrived(&client->news, sx_news_end(&client->news));
    }
    sx_news_drop(&client->news);
}

/* A message of the news may be long, too: a value with qualifiers. */
Test(blob, of_a_long_message_is_made_in_steps)
{
    struct sx_client *const client = sx_client_find(job, 1);
    struct sx_lane_put *const put = calloc(1, LONG);

    cr_assert_not_null(put);
    put->key_len = 5;
    memcpy(put + 1, "plain", 5);
    for (enum change what = STAYS; what <= ARRIVES; what += ARRIVES) {
        struct sx_blob whole = { 0 };
        struct sx_news_pack pack;
        unsigned steps = 0;
        pmix_status_t rc;

        for (unsigned i = 0; i < 3; i++) { /* the last one is cut elsewhere */
            cr_assert_eq(sx_news_add(&client->news, put, i == 0 ? 64 : LONG - 8 * i), PMIX_SUCCESS);
        }
        sx_blob_clear(&blob);
        cr_assert_eq(sx_blob_begin(&blob), PMIX_SUCCESS);
        cr_assert_eq(sx_news_pack_begin(&pack, &blob, client), PMIX_SUCCESS);
        do {
            const size_t before = blob.size;
            size_t left = STEP;

            change(what, steps++, client);
            rc = sx_news_pack_step(&pack, &blob, &left);
            cr_expect(blob.size <= before + STEP, "%d: %zu", what, blob.size - before);
        } while (rc == PMIX_ERR_WOULD_BLOCK);
        cr_assert_eq(rc, PMIX_SUCCESS);
        cr_expect(what == ARRIVES || steps >= 2 * LONG / STEP, "%d: %u", what, steps);
        cr_assert_eq(sx_blob_begin(&whole), PMIX_SUCCESS);
        cr_assert_eq(sx_blob_add_news(&whole, client), PMIX_SUCCESS);
        cr_assert_eq(blob.size, whole.size, "%d", what);
        if (what == CHANGES || what == CHANGES_ALWAYS) {
            letter_expect(blob.bytes + blob.size - LONG);
        } else {
            cr_expect_eq(memcmp(blob.bytes, whole.bytes, whole.size), 0, "%d", what);
        }
        sx_blob_clear(&whole);
        sx_blob_clear(&blob);
        sx_news_arrived(&client->news, sx_news_end(&client->news));
    }
    sx_news_drop(&client->news);
    free(put);
}

Test(blob, is_glued_to_others_at_any_address)
{
    struct sx_blob other;
    char *const glued = malloc(4096);

    cr_assert_not_null(glued);
    cr_assert_eq(sx_blob_begin(&other), PMIX_SUCCESS);
    add(&blob, "job", 2, "a");
    add(&other, "job", 3, "b");
    for (size_t shift = 0; shift < 8; shift++) {
        memcpy(glued + shift, other.bytes, other.size);
        memcpy(glued + shift + other.size, blob.bytes, blob.size);
        cr_expect_eq(read_all(glued + shift, blob.size + other.size), PMIX_SUCCESS);
        cr_assert_eq(count, 2, "%zu", shift);
        cr_expect_str_eq(keys[0], "b");
        cr_expect_str_eq(keys[1], "a");
    }
    sx_blob_clear(&other);
    free(glued);
}

Test(blob, cut_anywhere_or_with_bytes_behind_it_is_refused)
{
    add(&blob, "job", 2, "a");
    char *const cut = malloc(blob.size + 8); /* so that a sanitizer sees its end */

    cr_assert_not_null(cut);
    for (size_t size = 1; size < blob.size; size++) {
        char *const exact = malloc(size);

        cr_assert_not_null(exact);
        memcpy(exact, blob.bytes, size);
        cr_expect_eq(read_all(exact, size), PMIX_ERR_UNPACK_FAILURE, "%zu of its bytes", size);
        free(exact);
    }
    memcpy(cut, blob.bytes, blob.size);
    memset(cut + blob.size, 0, 8);
    cr_expect_eq(read_all(cut, blob.size + 8), PMIX_ERR_UNPACK_FAILURE);
    free(cut);
}

/* Where a word of the blob lies, and what it must not be: the header, the section, a message. */
static const struct {
    const char *why;
    size_t at;
    uint32_t word;
} garbled[] = {
    { "another magic", 0, 7 },
    { "another version", 4, 1 },
    { "smaller than its header", 8, 8 },
    { "a size that is no multiple of 8", 8, 65 },
    { "larger than what is there", 8, 4096 },
    { "a namespace without a name", 20, 0 },
    { "a namespace with too long a name", 20, PMIX_MAX_NSLEN + 1 },
    { "a section beyond the end", 24, 4096 },
    { "a section that is no multiple of 8", 24, 39 },
    { "a message beyond its section", 40, 4096 },
    { "a message that would wrap around", 44, UINT32_MAX },
};

Test(blob, with_a_word_that_cannot_be_is_refused_and_notified_with_its_size)
{
    const int log_fd = test_capture_stderr();

    for (size_t i = 0; i < SX_COUNT(garbled); i++) {
        sx_blob_clear(&blob);
        cr_assert_eq(sx_blob_begin(&blob), PMIX_SUCCESS);
        add(&blob, "job", 2, "a");
        cr_assert_eq(read_all(blob.bytes, blob.size), PMIX_SUCCESS);
        memcpy(blob.bytes + garbled[i].at, &garbled[i].word, sizeof(garbled[i].word));
        cr_expect_eq(read_all(blob.bytes, blob.size), PMIX_ERR_UNPACK_FAILURE, "%s",
                     garbled[i].why);
    }
    cr_expect_eq(test_count_lines(log_fd,
                                  "the host brought 80 bytes that no server of this version "
                                  "sent, for a fence of job: install"),
                 (int)SX_COUNT(garbled));
}

Test(blob, with_what_is_not_stored_is_refused)
{
    add(&blob, "job", 2, "a");
    add(&blob, "job", 3, "b");
    verdict = PMIX_ERR_UNPACK_FAILURE;
    cr_expect_eq(read_all(blob.bytes, blob.size), PMIX_ERR_UNPACK_FAILURE);
    cr_expect_eq(count, 1, "nothing behind it");
}

Test(blob, of_a_rank_has_what_other_nodes_may_see)
{
    static const pmix_scope_t scopes[] = { PMIX_LOCAL, PMIX_GLOBAL, PMIX_INTERNAL };
    static const char *const names[] = { "local", "global", "internal" };
    const struct sx_store_options options = { .nspace = "job", .row_count = 4, .generation = 1 };
    const pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t) "text" };

    for (size_t i = 0; i < SX_COUNT(scopes); i++) {
        cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, 1, names[i], scopes[i], &value),
                     PMIX_SUCCESS);
    }
    cr_assert_eq(sx_store_create(&job->remote, &options), PMIX_SUCCESS);
    job->has_remote = true;
    cr_assert_eq(sx_store_put(&job->remote, SX_REALM_JOB, 1, "remote", PMIX_REMOTE, &value),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_blob_add_rank(&blob, sx_client_find(job, 1)), PMIX_SUCCESS);
    sx_nspace_remove(&server, job); /* and read it on another node */
    job = bare_job(&server, "job", 4, 0);
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    cr_expect_eq(read_all(blob.bytes, blob.size), PMIX_SUCCESS);
    cr_assert_eq(count, 2);
    cr_expect_eq(ranks[0], 1);
    cr_expect_str_eq(keys[0], "global");
    cr_expect_str_eq(keys[1], "remote");
}

/* ---- all of a rank in steps ------------------------------------------------------------------ */

/* What happens before a step of some number. */
enum event {
    NOTHING,
    RENEWED,
    GROWN,
    TO_REMOTE,
    FROM_REMOTE,
    NEWEST,         /* both stores have one, and the newest comes into that which is walked first */
    NEWEST_RENEWED, /* ... and the other is renewed */
    WITHDRAWN,
    EMPTIED,
    EVENTS
};
enum { OLD = 8, NEWER = 16, NEW = 24 }; /* bytes */

static void put_in(struct sx_store_writer *store, const char *key, pmix_scope_t scope, size_t size)
{
    char *const bytes = calloc(1, size);
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { bytes, size } };

    cr_assert_not_null(bytes);
    cr_assert_eq(sx_store_put(store, SX_REALM_JOB, 1, key, scope, &value), PMIX_SUCCESS);
    free(bytes);
}

/* Those of another rank, for which the dictionary is made larger. */
static void others_put(void)
{
    for (unsigned i = 0; i < 200; i++) {
        const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = i };
        char key[16];

        snprintf(key, sizeof(key), "other.%u", i);
        cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, 0, key, PMIX_GLOBAL, &value),
                     PMIX_SUCCESS);
    }
}

/* "moved" is in one of the stores, or has just gone to the other. */
static void rank_change(enum event what, struct sx_client *client)
{
    if (what == RENEWED) {
        cr_assert_eq(sx_store_renew(&job->store), PMIX_SUCCESS);
    } else if (what == WITHDRAWN) {
        cr_assert_eq(sx_store_unset(&job->store, SX_REALM_JOB, 1, "long"), PMIX_SUCCESS);
    } else if (what == TO_REMOTE) {
        put_in(&job->remote, "moved", PMIX_REMOTE, 8);
        (void)sx_store_unset(&job->store, SX_REALM_JOB, 1, "moved");
        client->scope_moves++;
    } else if (what == FROM_REMOTE) {
        put_in(&job->store, "moved", PMIX_GLOBAL, 8);
        (void)sx_store_unset(&job->remote, SX_REALM_JOB, 1, "moved");
        client->scope_moves++;
    } else if (what == NEWEST || what == NEWEST_RENEWED) {
        put_in(&job->store, "moved", PMIX_GLOBAL, NEW);
        (void)sx_store_unset(&job->remote, SX_REALM_JOB, 1, "moved");
        client->scope_moves++;
    }
    if (what == NEWEST_RENEWED) {
        cr_assert_eq(sx_store_renew(&job->remote), PMIX_SUCCESS);
    }
    if (what == GROWN) {
        others_put();
    } else if (what == EMPTIED) {
        sx_store_destroy(&job->store);
        job->has_store = false;
        sx_store_destroy(&job->remote); /* so nothing follows */
        job->has_remote = false;
    }
}

static void rank_fill(enum event what)
{
    const struct sx_store_options options = {
        .nspace = "job", .row_count = 4, .generation = 1, .private_memory = true, .alone = true
    };

    if (!job->has_remote) {
        cr_assert_eq(sx_store_create(&job->remote, &options), PMIX_SUCCESS);
        job->has_remote = true;
    }
    if (what == RENEWED) { /* it has its dictionary in another place then */
        others_put();
    }
    put_in(&job->store, "long", PMIX_GLOBAL, LONG);
    put_in(&job->store, "local", PMIX_LOCAL, LONG);
    put_in(&job->remote, "far", PMIX_REMOTE, LONG);
    (void)sx_store_unset(&job->store, SX_REALM_JOB, 1, "moved");
    (void)sx_store_unset(&job->remote, SX_REALM_JOB, 1, "moved");
    put_in(what == FROM_REMOTE ? &job->remote : &job->store, "moved",
           what == FROM_REMOTE ? PMIX_REMOTE : PMIX_GLOBAL, OLD);
    if (what == NEWEST || what == NEWEST_RENEWED) {
        put_in(&job->remote, "moved", PMIX_REMOTE, NEWER);
    }
}

/* Return: the length of the last value of @key, which counts; -1: there is none. */
static int last_len(const char *key)
{
    int len = -1;

    for (unsigned i = 0; i < count; i++) {
        len = strcmp(keys[i], key) == 0 ? (int)lens[i] : len;
    }
    return len;
}

static bool has_key(const char *key)
{
    return last_len(key) != -1;
}

/* Read it on another node. */
static void rank_judge(enum event what, unsigned at, const char *when)
{
    const struct sx_blob_piece piece = { blob.bytes, blob.size };

    sx_nspace_remove(&server, job);
    job = bare_job(&server, "job", 4, 0);
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    cr_expect_eq(read_steps(&piece, SIZE_MAX), PMIX_SUCCESS);
    cr_expect(has_key("far") || what == EMPTIED, "%d: %s", what, when);
    cr_expect(has_key("moved") || what == EMPTIED, "%d: %s", what, when);
    cr_expect((what != NEWEST && what != NEWEST_RENEWED) || last_len("moved") != OLD, "%d: %s",
              what, when);
    cr_expect(has_key("long") || what == WITHDRAWN || what == EMPTIED, "%d: %s", what, when);
    cr_expect(!has_key("long") || what != EMPTIED || at > LONG / STEP, "a part of it: %s", when);
    cr_expect_not(has_key("local"));
    sx_nspace_remove(&server, job);
    job = bare_job(&server, "job", 4, 2);
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
}

static void rank_pack(enum event what, unsigned at)
{
    struct sx_client *const client = sx_client_find(job, 1);
    struct sx_rank_pack pack;
    unsigned steps = 0;
    char when[32];
    pmix_status_t rc;

    snprintf(when, sizeof(when), "before step %u", at);
    rank_fill(what);
    cr_assert_eq(sx_blob_begin(&blob), PMIX_SUCCESS);
    cr_assert_eq(sx_rank_pack_begin(&pack, &blob, client), PMIX_SUCCESS);
    do {
        const uint64_t before = pack.value.copied;
        size_t left = STEP;

        if (steps++ == at) {
            rank_change(what, client);
        }
        rc = sx_rank_pack_step(&pack, &blob, &left);
        cr_expect(pack.value.copied <= before + STEP || left == 0, "%d: %s", what, when);
        cr_assert_lt(steps, 8 * LONG / STEP);
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    cr_assert_eq(rc, PMIX_SUCCESS);
    cr_expect(steps >= LONG / STEP || what == EMPTIED, "%d: %s: %u", what, when, steps);
    rank_judge(what, at, when);
    sx_blob_clear(&blob);
}

Test(blob, of_all_of_a_rank_is_made_in_steps)
{
    sx_blob_clear(&blob);
    for (enum event what = NOTHING; what < EVENTS; what++) {
        for (unsigned at = 0; at < 2 * LONG / STEP; at += 5) {
            rank_pack(what, at);
        }
    }
}

/* ---- hostile ranks --------------------------------------------------------------------------- */

/* Each value is made short while it is copied, but for the last. */
Test(blob, of_news_that_change_again_and_again_is_made_in_steps)
{
    const unsigned changes = 5;
    struct sx_client *const client = sx_client_find(job, 1);
    struct sx_news_pack pack;
    unsigned steps = 0;
    char key[] = "a";
    pmix_status_t rc;

    for (unsigned i = 0; i <= changes; i++, key[0]++) {
        put_in(&job->store, key, PMIX_GLOBAL, LONG);
        cr_assert_eq(sx_news_refer(&client->news, key), PMIX_SUCCESS);
    }
    cr_assert_eq(sx_news_pack_begin(&pack, &blob, client), PMIX_SUCCESS);
    do {
        size_t left = STEP;

        rc = sx_news_pack_step(&pack, &blob, &left);
        key[0] = (char)('a' + steps++);
        if (steps <= changes) {
            put_in(&job->store, key, PMIX_GLOBAL, 8);
        }
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    cr_assert_eq(rc, PMIX_SUCCESS);
    cr_expect_geq(steps, changes + LONG / STEP);
    sx_news_drop(&client->news);
}

/* Each of both stores is renewed twice. */
Test(blob, of_a_rank_whose_stores_are_renewed_again_and_again_is_made_in_steps)
{
    struct sx_rank_pack pack;
    unsigned steps = 0, renewals[2] = { 0 };
    pmix_status_t rc;

    rank_fill(NOTHING);
    cr_assert_eq(sx_rank_pack_begin(&pack, &blob, sx_client_find(job, 1)), PMIX_SUCCESS);
    do {
        const uint64_t before = pack.value.copied;
        size_t left = STEP;

        rc = sx_rank_pack_step(&pack, &blob, &left);
        cr_expect(pack.value.copied <= before + STEP, "step %u", steps);
        steps++;
        if (pack.value.body != NULL && renewals[pack.phase % 2]++ < 2) {
            cr_assert_eq(sx_store_renew(pack.phase % 2 == 0 ? &job->store : &job->remote),
                         PMIX_SUCCESS);
        }
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    cr_assert_eq(rc, PMIX_SUCCESS);
    cr_expect_geq(steps, 2 * LONG / STEP);
    cr_expect_lt(blob.size, 2 * LONG + STEP);
}

/* The store is renewed before each step: the steps get longer, not at once, so it ends. */
Test(blob, of_a_rank_whose_store_is_always_renewed_ends)
{
    struct sx_rank_pack pack;
    unsigned steps = 0;
    size_t most = STEP;
    pmix_status_t rc;

    rank_fill(NOTHING);
    cr_assert_eq(sx_rank_pack_begin(&pack, &blob, sx_client_find(job, 1)), PMIX_SUCCESS);
    do {
        size_t left = STEP;

        if (pack.phase == 0 && steps > 0) {
            cr_assert_eq(sx_store_renew(&job->store), PMIX_SUCCESS);
        }
        rc = sx_rank_pack_step(&pack, &blob, &left);
        cr_expect_leq(pack.value.copied, most, "step %u", steps);
        most *= steps >= 3 ? 2 : 1;
        cr_assert_lt(++steps, 40);
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    cr_assert_eq(rc, PMIX_SUCCESS);
    cr_expect_geq(steps, 7);
}

/* A long value is put again while it is packed, and before the host has it. */
Test(blob, of_news_leaves_what_is_put_again_for_the_next)
{
    struct sx_client *const client = sx_client_find(job, 1);
    struct sx_news_pack pack;
    size_t left = SIZE_MAX;

    long_put('a');
    cr_assert_eq(sx_news_refer(&client->news, "long"), PMIX_SUCCESS);
    cr_assert_eq(sx_news_pack_begin(&pack, &blob, client), PMIX_SUCCESS);
    long_put('b');
    cr_assert_eq(sx_news_refer(&client->news, "long"), PMIX_SUCCESS);
    cr_assert_eq(sx_news_pack_step(&pack, &blob, &left), PMIX_SUCCESS);
    sx_news_arrived(&client->news, pack.end);
    cr_assert_lt(client->news.gone, sx_news_end(&client->news), "it is news again");
    cr_assert_eq(sx_blob_add_news(&blob, client), PMIX_SUCCESS);
    letter_expect(blob.bytes + blob.size - LONG);
    cr_expect_eq(blob.bytes[blob.size - 1], 'b');
    sx_news_drop(&client->news);
}

#define MANY ((size_t)16 << 20)

static atomic_size_t given_back; /* bytes */

__attribute__((visibility("default"))) int madvise(void *at, size_t size, int advice);

int madvise(void *at, size_t size, int advice)
{
    if (advice == MADV_DONTNEED) {
        atomic_fetch_add(&given_back, size);
    }
    return (int)syscall(SYS_madvise, at, size, advice);
}

/* What a fence has brought to all nodes leaves an empty block with as many pages. */
Test(blob, that_was_long_is_given_back_by_a_thread, .timeout = 60)
{
    cr_assert_not_null(sx_blob_extend(&blob, MANY));
    blob.size = 0;
    sx_blob_clear(&blob);
    while (atomic_load(&given_back) < MANY) {
        sched_yield();
    }
}
