/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get.c - the values in jobs' stores (shmem/store.h) whose keys match a pattern.
 *
 *     find the stores --> the keys of each realm that match, by name --> each row that has one
 *
 * A value is shown as it was at one moment.  Bounded by the published part of each store. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/table.h"
#include "base/util.h"
#include "base/value/names.h"
#include "base/value/value.h"
#include "cli/target.h"
#include "cli/value.h"
#include "cli/verbs.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "shmem/store.h"

/* Digests of the values that were seen. */
struct seen {
    struct sx_table values;
    struct seen_value *last;
    uint64_t seed;
};

/* ---- watch ----------------------------------------------------------------------------------- */

/* Keep digests of the values that were shown.  They have 64 bits and a seed, so that no
 * process can store two values with the same digest on purpose.  Bounded by the values that
 * match. */

#define LOOK_NS (50 * SX_NS_PER_MS)
#define LOOK_SHARE 20u

struct seen_value {
    struct sx_table_node node; /* by the owner and the key */
    uint64_t digest;           /* of the value */
    struct seen_value *before;
};

static void seen_init(struct seen *seen)
{
    *seen = (struct seen){ .seed = sx_table_seed() };
}

static void seen_deinit(struct seen *seen)
{
    while (seen->last != NULL) {
        struct seen_value *const value = seen->last;

        seen->last = value->before;
        free(value);
    }
    sx_table_deinit(&seen->values);
}

/* ---- new values ------------------------------------------------------------------------------ */

static uint64_t digest_of(const struct seen *seen, const struct sx_item *item)
{
    const uint64_t head[] = { item->cell.type, item->cell.flags & SX_CELL_NULL, item->cell.len,
                              item->cell.len == 0 ? item->cell.bits : 0 };
    const uint64_t seed = XXH3_64bits_withSeed(head, sizeof(head), seen->seed);

    return XXH3_64bits_withSeed(item->body, item->cell.len, seed);
}

/* Whether @item of a row of @key in @realm of @nspace differs from the last call, or is asked for
 * the first time. */
static bool seen_is_new(struct seen *seen, const char *nspace, enum sx_realm realm, const char *key,
                        uint32_t row, const struct sx_item *item)
{
    const uint64_t digest = digest_of(seen, item), place[] = { realm, row };
    uint64_t name = XXH3_64bits_withSeed(place, sizeof(place), seen->seed);

    name = XXH3_64bits_withSeed(nspace, strlen(nspace), name);
    name = XXH3_64bits_withSeed(key, strlen(key), name);
    struct sx_table_node *const node = sx_table_first(&seen->values, name);

    if (node != NULL) {
        struct seen_value *const value = SX_CONTAINER(node, struct seen_value, node);
        const bool is_new = value->digest != digest;

        value->digest = digest;
        return is_new;
    }
    struct seen_value *const value = sx_cli_calloc(1, sizeof(*value));

    value->digest = digest;
    value->before = seen->last;
    seen->last = value;
    if (!sx_table_add(&seen->values, &value->node, name)) {
        sx_cli_no_memory();
    }
    return true;
}

/* ---- repeating ------------------------------------------------------------------------------- */

/* Call @look until it returns false, or once more after the server has ended; until @end_ns.
 * Values ring no door, so @look is called 20 times a second, or less often, so that it takes a
 * twentieth of the time at most. */
static void watch_until(const struct sx_cli_board *found, bool (*look)(void *arg), void *arg,
                        uint64_t end_ns)
{
    bool lives = true, goes_on = true;

    while (lives && goes_on) {
        const uint64_t begin_ns = sx_now_ns();
        const struct sx_bell_watch word = { .word = found->board.life_word,
                                            .seen = sx_board_life_seen(&found->board) };

        /* Checked before reading: values of an ending server are still printed. */
        lives = sx_board_server_lives(&found->board);
        goes_on = look(arg);
        const uint64_t now_ns = sx_now_ns(), took_ns = now_ns - begin_ns;
        const uint64_t pause_ns = took_ns * LOOK_SHARE > LOOK_NS ? took_ns * LOOK_SHARE : LOOK_NS;

        goes_on = goes_on && now_ns < end_ns;
        if (lives && goes_on) {
            const uint64_t next_ns = sx_deadline_ns(now_ns, pause_ns);

            (void)sx_bell_wait(&word, 1, SX_BELL_ALL, next_ns < end_ns ? next_ns : end_ns);
        }
    }
}

/* ---- get ------------------------------------------------------------------------------------- */

#define ANY_REALM SX_REALM_COUNT
#define ANY_RANK (-1)

struct wish {
    const char *key;
    struct sx_whose whose;
    int64_t rank; /* ANY_RANK: any, and the job itself */
    unsigned realm;
    bool json;
    bool watch;
    uint64_t timeout_ns; /* of --watch; 0: no end */
    int64_t count;       /* of --watch; 0: no end */
};

struct key {
    const char *text; /* in the mapping */
    sx_column column;
};

struct search {
    const struct wish *wish;
    const struct sx_store *store;
    const char *nspace;
    enum sx_realm realm;
    struct key *keys; /* of the current realm */
    size_t key_count;
    unsigned jobs;
    uint64_t printed;
    pid_t server;      /* the server of the jobs; 0: any server */
    struct seen *seen; /* NULL: every value counts as new */
};

/* The realms of a job, as users name them; the job's own values are shown beside its processes'. */
static const char *const realm_names[] = { "proc", "node", "app", "session" };

/* ---- one value ------------------------------------------------------------------------------- */

static bool is_of_job(const struct search *search, uint32_t row)
{
    return search->realm == SX_REALM_JOB && row == SX_ROW_JOB;
}

static void where_text(const struct search *search, uint32_t row)
{
    const char *const nspace = search->nspace;

    if (search->realm == SX_REALM_JOB) {
        sx_names_proc_print(nspace, strlen(nspace), row, false);
        return;
    }
    sx_names_text_print(nspace, strlen(nspace));
    printf(" %s", realm_names[search->realm]);
    if (row != SX_ROW_JOB) {
        printf(" %" PRIu32, row);
    }
}

static void where_json(const struct search *search, uint32_t row)
{
    printf("\"nspace\":");
    sx_json_string(search->nspace, strlen(search->nspace));
    printf(",\"realm\":\"%s\"", is_of_job(search, row) ? "job" : realm_names[search->realm]);
    if (row != SX_ROW_JOB) {
        printf(",\"%s\":%" PRIu32, search->realm == SX_REALM_JOB ? "rank" : "id", row);
    }
}

static void value_json(const struct search *search, uint32_t row, const char *key,
                       const pmix_value_t *value)
{
    putchar('{');
    where_json(search, row);
    putchar(',');
    sx_cli_item_print(key, value);
    printf("}\n");
}

static void value_text(const struct search *search, uint32_t row, const char *key,
                       const pmix_value_t *value)
{
    where_text(search, row);
    putchar(' ');
    sx_cli_key_print(key, false);
    putchar(' ');
    sx_cli_value_print(value, false);
    putchar('\n');
}

static bool is_full(const struct search *search)
{
    return search->wish->count != 0 && search->printed >= (uint64_t)search->wish->count;
}

static void cell_print(struct search *search, const struct key *key, uint32_t row)
{
    struct sx_item item;
    pmix_value_t value;

    if (is_full(search) || sx_store_read(search->store, key->column, row, &item) != PMIX_SUCCESS ||
        item.cell.type == PMIX_UNDEF ||
        (search->seen != NULL &&
         !seen_is_new(search->seen, search->nspace, search->realm, key->text, row, &item)) ||
        sx_flat_decode(&value, &item.cell, item.body, item.cell.len) != PMIX_SUCCESS) {
        return;
    }
    (search->wish->json ? value_json : value_text)(search, row, key->text, &value);
    sx_value_destruct(&value);
    search->printed++;
}

/* ---- keys and rows --------------------------------------------------------------------------- */

static bool is_meant(const char *pattern, const char *key)
{
    const char *const name = sx_attribute_name(key);

    return fnmatch(pattern, key, 0) == 0 || (name != NULL && fnmatch(pattern, name, 0) == 0);
}

static bool key_take(void *arg, const char *text, sx_column column)
{
    struct search *const search = arg;

    if (is_meant(search->wish->key, text)) {
        search->keys = sx_cli_realloc(search->keys, search->key_count + 1, sizeof(struct key));
        search->keys[search->key_count++] = (struct key){ .text = text, .column = column };
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct key *)a)->text, ((const struct key *)b)->text);
}

static void rows_print(struct search *search, const struct key *key)
{
    const int64_t rank = search->wish->rank;
    uint32_t row = 0;

    if (rank != ANY_RANK) {
        cell_print(search, key, (uint32_t)rank);
        return;
    }
    cell_print(search, key, SX_ROW_JOB);
    while (sx_store_row_next(search->store, key->column, row, &row) == PMIX_SUCCESS) {
        cell_print(search, key, row++);
    }
}

static void realm_print(struct search *search, enum sx_realm realm)
{
    search->realm = realm;
    search->key_count = 0;
    sx_store_each_key(search->store, realm, key_take, search);
    if (search->key_count > 0) {
        qsort(search->keys, search->key_count, sizeof(struct key), by_text);
    }
    for (size_t i = 0; i < search->key_count; i++) {
        rows_print(search, &search->keys[i]);
    }
}

static void job_print(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct search *const search = arg;
    const struct wish *const wish = search->wish;

    (void)server;
    if (wish->whose.nspace != NULL && strcmp(nspace, wish->whose.nspace) != 0) {
        return;
    }
    search->store = store;
    search->nspace = nspace;
    search->jobs++;
    for (unsigned realm = 0; realm < SX_COUNT(realm_names); realm++) {
        if (wish->realm == ANY_REALM || wish->realm == realm) {
            realm_print(search, (enum sx_realm)realm);
        }
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool realm_set(void *at, const char *value)
{
    unsigned *const realm = at;

    for (*realm = 0; *realm < SX_COUNT(realm_names); (*realm)++) {
        if (strcmp(value, realm_names[*realm]) == 0) {
            return true;
        }
    }
    return false;
}

static bool count_set(void *at, const char *value)
{
    return sx_cli_number(value, 1, INT64_MAX, at);
}

static bool rank_set(void *at, const char *value)
{
    return sx_cli_number(value, 0, SX_STORE_ROW_MAX - 1, at);
}

static const struct sx_option rows[] = {
    { "KEY", NULL, NULL, NULL,
      "a key as PMIX_JOB_SIZE or pmix.job.size; * and ? and [...] stand for others, as in a shell",
      "a key, or a pattern of keys", sx_option_text, offsetof(struct wish, key), false },
    SX_WHOSE_WORD_ROW(struct wish, whose),
    { "--rank", NULL, "N", "0", "the rank of a process, or the number of a node, app or session",
      "values of this rank alone (with --realm: of this node, app or session)", rank_set,
      offsetof(struct wish, rank), false },
    { "--realm", NULL, "REALM", "node", "one of proc, node, app and session",
      "values of this kind alone: proc (the job and its processes), node, app or session",
      realm_set, offsetof(struct wish, realm), false },
    { "--json", NULL, NULL, NULL, NULL, "one JSON object a line", sx_option_flag,
      offsetof(struct wish, json), false },
    { "--watch", NULL, NULL, NULL, NULL,
      "go on with a line for each value that comes or changes, until the server ends",
      sx_option_flag, offsetof(struct wish, watch), false },
    { "--count", NULL, "N", "--watch --count 1", "a number from 1 on",
      "with --watch: end after N lines", count_set, offsetof(struct wish, count), false },
    { "--timeout", NULL, "SECONDS", "--watch --timeout 0.1", "a number of seconds",
      "with --watch: end after this time", sx_cli_seconds, offsetof(struct wish, timeout_ns),
      false },
    { .help = "whose:" },
    SX_WHOSE_ROWS(struct wish, whose),
};

static const char about[] =
    "usage: shmix get KEY [--rank N] [--realm REALM] [--json] [--watch] [NAMESPACE | PID]\n"
    "\n"
    "Print what is stored under KEY: in the job NAMESPACE, in the jobs of the server PID, or in\n"
    "all that you may inspect. Reads memory only, so a server that hangs or is stopped can be\n"
    "looked at. Exits with 1 where nothing is found.\n"
    "\n";

static const char more[] = "\n"
                           "examples:\n"
                           "  shmix get PMIX_JOB_SIZE             how large are the jobs?\n"
                           "  shmix get --rank 0 '*' 4711         all of the ranks 0 of a server\n"
                           "  shmix get --json 'my.*' | jq .value what ranks have put themselves\n"
                           "  shmix get --watch 'my.*'            and what they put from now on\n";

const struct sx_verb sx_get_verb = {
    .name = "shmix get",
    .try_begin = "shmix get",
    .try_end = " PMIX_JOB_SIZE",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

/* Whether the word in the place of the key is a job, or a server, and the other word is none. */
static bool is_turned_round(const struct wish *wish)
{
    struct sx_whose_found found = { .count = 0 };
    struct sx_cli_board board = { .board = SX_BOARD_NULL };
    pid_t pid = 0;

    if (wish->whose.nspace == NULL) {
        return false;
    }
    sx_whose_find(SX_WHOSE_JOB, wish->key, &found);
    if (found.count == 0 && sx_whose_pid_set(&pid, wish->key)) {
        sx_cli_board_find(pid, &board);
        found.count = board.count;
        sx_board_deinit(&board.board);
    }
    return found.count > 0;
}

static int nothing_say(const struct search *search, bool denied)
{
    const struct wish *const wish = search->wish;
    const char *const hidden = denied ? " of yours (root sees all)" : "";

    if (search->jobs == 0 && is_turned_round(wish)) {
        sx_say("no job %.255s: the key stands first, and then the job\n"
               "try: shmix get '%.255s' %.255s",
               wish->whose.nspace, wish->whose.nspace, wish->key);
        return SX_EXIT_USAGE;
    }

    if (search->jobs == 0 && sx_cli_outside_say(wish->whose.pid)) {
        return SX_EXIT_FAILURE;
    }
    if (search->jobs == 0 && wish->whose.pid != 0) {
        sx_say("process %d is no server with a job%s", (int)wish->whose.pid, hidden);
    } else if (search->jobs == 0 && wish->whose.nspace != NULL) {
        sx_say("no job %.255s%s; 'shmix mem' lists what there is", wish->whose.nspace, hidden);
    } else if (search->jobs == 0) {
        sx_say("no job runs%s", hidden);
    } else {
        sx_say("nothing is stored under %.511s%s; 'shmix get \"*\"' prints all that is", wish->key,
               wish->rank == ANY_RANK ? "" : " there");
    }
    return SX_EXIT_FAILURE;
}

static bool look(void *arg)
{
    struct search *const search = arg;

    (void)sx_cli_stores_each(search->server, job_print, search);
    return fflush(stdout) == 0 && !is_full(search);
}

static void server_take(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct search *const search = arg;

    (void)store;
    if (strcmp(nspace, search->wish->whose.nspace) == 0) {
        search->server = server;
    }
}

/* The key may be stored later, since the server and the job exist. */
static int watch(struct search *search)
{
    const struct sx_whose *const whose = &search->wish->whose;
    struct seen seen;
    struct sx_cli_board found;
    bool denied = false;

    search->server = whose->pid;
    if (whose->nspace != NULL) {
        denied = !sx_cli_stores_each(0, server_take, search);
        if (search->server == 0) {
            return nothing_say(search, denied);
        }
    }
    sx_cli_board_find(search->server, &found);
    if (found.count != 1) {
        if (found.count > 1) {
            sx_cli_board_say_many(&found);
        } else {
            (void)nothing_say(search, found.denied);
        }
        sx_board_deinit(&found.board);
        return SX_EXIT_FAILURE;
    }
    search->server = found.server;
    search->seen = &seen;
    seen_init(&seen);
    watch_until(&found, look, search,
                search->wish->timeout_ns == 0
                    ? SX_DEADLINE_NEVER
                    : sx_deadline_ns(sx_now_ns(), search->wish->timeout_ns));
    seen_deinit(&seen);
    sx_board_deinit(&found.board);
    return ferror(stdout) ? SX_EXIT_FAILURE : 0;
}

int sx_cli_get(char **words)
{
    struct wish wish = { .rank = ANY_RANK, .realm = ANY_REALM };
    struct search search = { .wish = &wish };
    const int code = sx_options_take(&sx_get_verb, &wish, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (!sx_proc_check() || !sx_whose_settle(&wish.whose)) {
        return SX_EXIT_FAILURE;
    }
    if (!wish.watch && (wish.count != 0 || wish.timeout_ns != 0)) {
        return sx_options_refuse(&sx_get_verb, "--watch", "--count and --timeout are for --watch");
    }
    if (wish.watch) {
        const int watched = watch(&search);

        free(search.keys);
        return watched;
    }
    const bool denied = !sx_cli_stores_each(wish.whose.pid, job_print, &search);

    free(search.keys);
    const int nothing = search.printed == 0 ? nothing_say(&search, denied) : 0;

    if (wish.whose.pid == 0 && wish.whose.nspace == NULL) {
        (void)sx_cli_outside_say(0);
    }
    if (nothing != 0) {
        return nothing;
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}
