/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.c - list the keys, and build the results. */
#include "base/call/query.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/log.h"
#include "base/status.h"
#include "base/value/flat.h"
#include "base/value/value.h"

/* ---- what is asked --------------------------------------------------------------------------- */

/* Return: how many keys there are; 0 when one is none, or there are none. */
static size_t keys_count(const pmix_query_t *query)
{
    size_t count = 0;

    while (query->keys != NULL && query->keys[count] != NULL) {
        const size_t len = strnlen(query->keys[count], PMIX_MAX_KEYLEN + 1);

        if (len == 0 || len > PMIX_MAX_KEYLEN) {
            return 0;
        }
        count++;
    }
    return count;
}

static pmix_status_t keys_judge(const pmix_query_t queries[], size_t count, size_t *ret_count)
{
    size_t all = 0;

    if (queries == NULL || count == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < count && all <= SX_QUERY_KEYS_MAX; i++) {
        const size_t its = keys_count(&queries[i]);

        if (its == 0) {
            return SX_RAISE(PMIX_ERR_BAD_PARAM,
                            "query %zu has no keys, or one that is empty or longer than %d bytes",
                            i, PMIX_MAX_KEYLEN);
        }
        all += its;
    }
    if (all > SX_QUERY_KEYS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "a call of PMIx_Query_info may ask for %u keys, and this one asks for "
                        "more: make several calls",
                        SX_QUERY_KEYS_MAX);
    }
    *ret_count = all;
    return PMIX_SUCCESS;
}

static pmix_status_t qualifiers_read(const pmix_query_t *query, struct sx_query_options *options)
{
    const pmix_status_t rc = sx_options_read(SX_OF_QUERY, query->qualifiers, query->nqual, options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (options->procs.count != 0 && (options->nspace != NULL || options->rank.given)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "a query names a process by PMIX_PROCID, or by "
                                            "PMIX_NSPACE and PMIX_RANK, not both");
    }
    return options->rank.given && options->nspace == NULL
               ? SX_RAISE(PMIX_ERR_BAD_PARAM, "PMIX_RANK of a query needs its PMIX_NSPACE")
               : PMIX_SUCCESS;
}

/* ---- repeated questions ---------------------------------------------------------------------- */

/* The qualifiers of one query, flat. */
struct qualifiers {
    uint8_t *bytes; /* NULL: they are like no others' ... */
    size_t size;    /* ... and SIZE_MAX */
    uint32_t query;
};

static int qualifiers_order(const void *left, const void *right)
{
    const struct qualifiers *const a = left, *const b = right;

    if (a->size != b->size) {
        return a->size < b->size ? -1 : 1;
    }
    return a->bytes == NULL ? (a->query > b->query) - (a->query < b->query)
                            : memcmp(a->bytes, b->bytes, a->size);
}

static void qualifiers_encode(const pmix_query_t *query, struct qualifiers *ret)
{
    pmix_status_t rc = sx_flat_infos_size(query->qualifiers, query->nqual, &ret->size);

    ret->bytes = rc == PMIX_SUCCESS ? malloc(ret->size + 1) : NULL;
    if (ret->bytes != NULL) {
        rc = sx_flat_infos_encode(query->qualifiers, query->nqual, ret->bytes, ret->size);
    }
    if (ret->bytes == NULL || rc != PMIX_SUCCESS) {
        free(ret->bytes);
        ret->bytes = NULL;
        ret->size = SIZE_MAX;
    }
}

/* Queries with equal qualifiers get one number in @alike.  Return: false when memory is out. */
static bool queries_compare(const struct sx_queries *queries, uint32_t *alike)
{
    struct qualifiers *const all = calloc(queries->count, sizeof(*all));

    if (all == NULL) {
        return false;
    }
    for (size_t i = 0; i < queries->count; i++) {
        all[i].query = (uint32_t)i;
        qualifiers_encode(&queries->all[i], &all[i]);
    }
    qsort(all, queries->count, sizeof(*all), qualifiers_order);
    for (size_t i = 0; i < queries->count; i++) {
        const bool again = i > 0 && qualifiers_order(&all[i - 1], &all[i]) == 0;

        alike[all[i].query] = again ? alike[all[i - 1].query] : all[i].query;
    }
    for (size_t i = 0; i < queries->count; i++) {
        free(all[i].bytes);
    }
    free(all);
    return true;
}

/* A key among others. */
struct place {
    const char *key;
    uint32_t alike, index;
};

static int places_order(const void *left, const void *right)
{
    const struct place *const a = left, *const b = right;
    const int keys = a->key == b->key ? 0 : strcmp(a->key, b->key);

    if (keys != 0 || a->alike != b->alike) {
        return keys != 0 ? keys : a->alike < b->alike ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

static bool same(const struct place *a, const struct place *b)
{
    return a->alike == b->alike && strcmp(a->key, b->key) == 0;
}

/* Find for each key the first one that asks the same.  The keys are sorted, so that large numbers
 * of keys do not make it slow. */
static pmix_status_t firsts_find(struct sx_queries *queries)
{
    const size_t count = queries->asked_count;

    if (count == 1) {
        return PMIX_SUCCESS; /* zeroed, that is itself */
    }
    uint32_t *const alike = calloc(queries->count, sizeof(*alike));
    struct place *const places = calloc(count, sizeof(*places));
    const bool found = alike != NULL && places != NULL && queries_compare(queries, alike);

    for (size_t i = 0; found && i < count; i++) {
        places[i] = (struct place){ .key = queries->asked[i].key,
                                    .alike = alike[queries->asked[i].query],
                                    .index = (uint32_t)i };
    }
    if (found) {
        qsort(places, count, sizeof(*places), places_order);
    }
    for (size_t i = 0; found && i < count; i++) {
        queries->asked[places[i].index].first = i > 0 && same(&places[i - 1], &places[i])
                                                    ? queries->asked[places[i - 1].index].first
                                                    : places[i].index;
    }
    free(places);
    free(alike);
    return found ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

pmix_status_t sx_queries_open(struct sx_queries *ret, const pmix_query_t queries[], size_t count)
{
    size_t asked_count = 0;
    pmix_status_t rc = keys_judge(queries, count, &asked_count);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    *ret = (struct sx_queries){ .all = queries,
                                .count = count,
                                .options = calloc(count, sizeof(*ret->options)),
                                .asked = calloc(asked_count, sizeof(*ret->asked)) };
    rc = ret->options != NULL && ret->asked != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        for (char **key = queries[i].keys; *key != NULL; key++) {
            ret->asked[ret->asked_count++] = (struct sx_asked){ .key = *key, .query = (uint32_t)i };
        }
        rc = qualifiers_read(&queries[i], &ret->options[i]);
    }
    if (rc == PMIX_SUCCESS) {
        rc = firsts_find(ret);
    }
    if (rc != PMIX_SUCCESS) {
        sx_queries_close(ret);
    }
    return rc;
}

void sx_queries_close(struct sx_queries *queries)
{
    for (size_t i = 0; i < queries->asked_count; i++) {
        sx_value_destruct(&queries->asked[i].value);
    }
    free(queries->asked);
    free(queries->options);
    *queries = (struct sx_queries){ .all = NULL };
}

void sx_queries_answer(struct sx_queries *queries, struct sx_asked *asked, pmix_value_t *value)
{
    asked->value = *value;
    asked->answered = true;
    queries->answered_count++;
    *value = (pmix_value_t){ .type = PMIX_UNDEF };
}

void sx_queries_unanswer(struct sx_queries *queries, struct sx_asked *asked)
{
    sx_value_destruct(&asked->value);
    asked->value = (pmix_value_t){ .type = PMIX_UNDEF };
    queries->answered_count -= asked->answered;
    asked->answered = false;
}

pmix_status_t sx_queries_again(const struct sx_queries *queries, const struct sx_asked *asked,
                               pmix_value_t *ret)
{
    const struct sx_asked *const first = &queries->asked[asked->first];

    return first->answered ? sx_value_copy(ret, &first->value) : PMIX_ERR_NOT_FOUND;
}

pmix_status_t sx_queries_repeat(struct sx_queries *queries)
{
    for (size_t i = 0; i < queries->asked_count; i++) {
        struct sx_asked *const asked = &queries->asked[i];
        pmix_value_t value;
        const pmix_status_t rc = asked->answered || !sx_asked_again(queries, asked)
                                     ? PMIX_ERR_NOT_FOUND
                                     : sx_queries_again(queries, asked, &value);

        if (rc == PMIX_SUCCESS) {
            sx_queries_answer(queries, asked, &value);
        } else if (rc != PMIX_ERR_NOT_FOUND) {
            return rc;
        }
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_queries_ask(struct sx_queries *queries,
                             pmix_status_t (*know)(void *arg, const struct sx_question *question,
                                                   pmix_value_t *ret),
                             void *arg)
{
    for (size_t i = 0; i < queries->asked_count; i++) {
        struct sx_asked *const asked = &queries->asked[i];
        const struct sx_question question = { .key = asked->key,
                                              .query = &queries->all[asked->query],
                                              .options = &queries->options[asked->query] };
        pmix_value_t value;
        const pmix_status_t rc = asked->answered ? PMIX_ERR_NOT_FOUND
                                 : sx_asked_again(queries, asked)
                                     ? sx_queries_again(queries, asked, &value)
                                     : know(arg, &question, &value);

        if (rc == PMIX_SUCCESS) {
            sx_queries_answer(queries, asked, &value);
        } else if (rc != PMIX_ERR_NOT_FOUND) {
            return rc;
        }
    }
    return PMIX_SUCCESS;
}

pmix_proc_t sx_query_proc(const struct sx_query_options *options, const pmix_proc_t *self)
{
    pmix_proc_t proc;

    if (options->procs.count != 0) {
        return options->procs.all[0];
    }
    PMIx_Load_procid(&proc, options->nspace != NULL ? options->nspace : self->nspace,
                     options->rank.given ? options->rank.number : PMIX_RANK_WILDCARD);
    return proc;
}

/* ---- remaining questions --------------------------------------------------------------------- */

pmix_query_t *sx_queries_left(const struct sx_queries *queries, size_t *ret_count)
{
    const size_t key_count = queries->asked_count + queries->count; /* each list ends with NULL */
    pmix_query_t *const left = calloc(1,
                                      queries->count * sizeof(*left) + key_count * sizeof(char *));
    char **key = (char **)(left + queries->count);
    size_t count = 0;
    uint32_t last = 0;

    for (size_t i = 0; left != NULL && i < queries->asked_count; i++) {
        const struct sx_asked *const asked = &queries->asked[i];

        if (asked->answered) {
            continue;
        }
        if (count == 0 || asked->query != last) {
            key += count != 0;
            last = asked->query;
            left[count] = queries->all[last];
            left[count++].keys = key;
        }
        *key++ = (char *)(uintptr_t)asked->key;
    }
    *ret_count = count;
    return left;
}

/* The keys in order, and in the order of their queries among equal ones, to find those that an
 * answer is for.  Answered keys are skipped in steps, which are shortened on the way (path
 * compression). */
struct finder {
    struct sx_queries *queries;
    struct place *places; /* alike is the query */
    uint32_t *next;       /* of each place: itself while it has no answer, or one behind it */
};

static int finder_order(const void *left, const void *right)
{
    const struct place *const a = left, *const b = right;
    const int keys = strcmp(a->key, b->key);

    return keys != 0 ? keys : (a->index > b->index) - (a->index < b->index);
}

static void finder_close(struct finder *finder)
{
    free(finder->places);
    free(finder->next);
}

static pmix_status_t finder_open(struct sx_queries *queries, struct finder *ret)
{
    const size_t count = queries->asked_count;

    *ret = (struct finder){ .queries = queries,
                            .places = calloc(count + 1, sizeof(*ret->places)),
                            .next = calloc(count + 1, sizeof(*ret->next)) };
    if (ret->places == NULL || ret->next == NULL) {
        finder_close(ret);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < count; i++) {
        ret->places[i] = (struct place){ .key = queries->asked[i].key,
                                         .alike = queries->asked[i].query,
                                         .index = (uint32_t)i };
    }
    qsort(ret->places, count, sizeof(*ret->places), finder_order);
    for (size_t i = 0; i <= count; i++) {
        ret->next[i] = (uint32_t)i;
    }
    return PMIX_SUCCESS;
}

/* The first place that is not before @key of query @query. */
static size_t place_at(struct finder *finder, const char *key, uint32_t query)
{
    size_t low = 0, high = finder->queries->asked_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct place *const place = &finder->places[middle];
        const int order = strncmp(place->key, key, PMIX_MAX_KEYLEN + 1);

        finder->queries->walked++;
        if (order < 0 || (order == 0 && place->alike < query)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_passed(const struct finder *finder, size_t at)
{
    return at < finder->queries->asked_count &&
           finder->queries->asked[finder->places[at].index].answered;
}

/* The first place from @at on that has no answer. */
static size_t place_unanswered(struct finder *finder, size_t at)
{
    while (is_passed(finder, at)) {
        const uint32_t next = finder->next[at] == at ? (uint32_t)at + 1 : finder->next[at];

        finder->next[at] = is_passed(finder, next) && finder->next[next] != next
                               ? finder->next[next]
                               : next;
        finder->queries->walked++;
        at = next;
    }
    return at;
}

/* The first key without an answer that @info may answer, from query @query on, or of it alone when
 * @within.  Return: NULL when there is none. */
static struct sx_asked *asked_find(struct finder *finder, uint32_t query, bool within,
                                   const pmix_info_t *info)
{
    const size_t at = place_unanswered(finder, place_at(finder, info->key, query));
    const struct place *const place = &finder->places[at];

    return at < finder->queries->asked_count &&
                   strncmp(place->key, info->key, sizeof(info->key)) == 0 &&
                   (!within || place->alike == query)
               ? &finder->queries->asked[place->index]
               : NULL;
}

/* @info answers the first key from query @query on that it can; only one of it when @within. */
static pmix_status_t answer_take(struct finder *finder, uint32_t query, bool within,
                                 const pmix_info_t *info)
{
    struct sx_asked *const asked = asked_find(finder, query, within, info);
    pmix_value_t value;
    size_t size;

    if (asked == NULL || info->value.type == PMIX_UNDEF) {
        return PMIX_SUCCESS;
    }
    pmix_status_t rc = sx_flat_size(&info->value, &size);

    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN,
               "the answer to the query of \"%s\" is left out: a %s as it is there "
               "cannot be sent",
               asked->key, PMIx_Data_type_string(info->value.type));
        return PMIX_SUCCESS;
    }
    rc = sx_value_copy(&value, &info->value);
    if (rc == PMIX_SUCCESS) {
        sx_queries_answer(finder->queries, asked, &value);
    }
    return rc;
}

/* The results of query @query. */
static pmix_status_t results_take(struct finder *finder, uint32_t query, const pmix_value_t *value)
{
    const pmix_data_array_t *const array = value->type == PMIX_DATA_ARRAY ? value->data.darray
                                                                          : NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (array == NULL || array->type != PMIX_INFO || array->array == NULL) {
        return PMIX_SUCCESS;
    }
    for (size_t i = 0; i < array->size && rc == PMIX_SUCCESS; i++) {
        rc = answer_take(finder, query, true, (const pmix_info_t *)array->array + i);
    }
    return rc;
}

/* The first key without an answer, from @asked on. */
static struct sx_asked *unanswered_next(const struct sx_queries *queries, struct sx_asked *asked)
{
    while (asked < queries->asked + queries->asked_count && asked->answered) {
        asked++;
    }
    return asked < queries->asked + queries->asked_count ? asked : NULL;
}

pmix_status_t sx_queries_take(struct sx_queries *queries, const pmix_info_t info[], size_t ninfo)
{
    struct sx_asked *asked = unanswered_next(queries, queries->asked);
    struct finder finder;

    if (info == NULL || ninfo == 0 || asked == NULL) {
        return PMIX_SUCCESS;
    }
    pmix_status_t rc = finder_open(queries, &finder);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (strncmp(info[i].key, PMIX_QUERY_RESULTS, sizeof(info[i].key)) != 0) {
            rc = answer_take(&finder, 0, false, &info[i]);
        } else if (asked != NULL) {
            const uint32_t query = asked->query;

            rc = results_take(&finder, query, &info[i].value);
            while (asked != NULL && asked->query == query) {
                asked = unanswered_next(queries, asked + 1);
            }
        }
    }
    finder_close(&finder);
    return rc;
}

/* ---- results --------------------------------------------------------------------------------- */

static void answer_move(struct sx_asked *asked, pmix_info_t *ret)
{
    PMIx_Load_key(ret->key, asked->key);
    ret->value = asked->value;
    asked->value = (pmix_value_t){ .type = PMIX_UNDEF };
}

static pmix_status_t qualifiers_copy(const pmix_query_t *query, pmix_info_t *ret)
{
    pmix_data_array_t array = { .type = PMIX_INFO,
                                .size = query->nqual,
                                .array = query->qualifiers };
    const pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    PMIx_Load_key(ret->key, PMIX_QUERY_QUALIFIERS);
    return sx_value_copy(&ret->value, &value);
}

/* All that query @index has: its answers are those from *asked on, which moves behind them. */
static pmix_status_t query_results(struct sx_queries *queries, size_t index,
                                   struct sx_asked **asked, pmix_info_t *ret)
{
    const pmix_query_t *const query = &queries->all[index];
    const struct sx_asked *const end = queries->asked + queries->asked_count;
    const size_t head = query->nqual > 0 ? 1 : 0;
    size_t count = head;

    for (const struct sx_asked *it = *asked; it < end && it->query == index; it++) {
        count += it->answered;
    }
    pmix_data_array_t *const array = PMIx_Data_array_create(count, PMIX_INFO);

    if (array == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    PMIx_Load_key(ret->key, PMIX_QUERY_RESULTS);
    ret->value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };

    pmix_info_t *to = array->array;
    const pmix_status_t rc = head > 0 ? qualifiers_copy(query, to++) : PMIX_SUCCESS;

    for (; *asked < end && (*asked)->query == index; ++*asked) {
        if (rc == PMIX_SUCCESS && (*asked)->answered) {
            answer_move(*asked, to++);
        }
    }
    return rc;
}

pmix_status_t sx_queries_results(struct sx_queries *queries, pmix_status_t missed,
                                 pmix_info_t **ret_info, size_t *ret_ninfo)
{
    const bool flat = queries->count == 1;
    const size_t count = flat ? queries->answered_count : queries->count;
    struct sx_asked *asked = queries->asked;
    pmix_status_t rc = PMIX_SUCCESS;

    *ret_info = NULL;
    *ret_ninfo = 0;
    if (queries->answered_count == 0) {
        return missed;
    }
    pmix_info_t *const info = PMIx_Info_create(count);

    if (info == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0, at = 0; flat && i < queries->asked_count; i++) {
        if (asked[i].answered) {
            answer_move(&asked[i], &info[at++]);
        }
    }
    for (size_t i = 0; !flat && i < count && rc == PMIX_SUCCESS; i++) {
        rc = query_results(queries, i, &asked, &info[i]);
    }
    if (rc != PMIX_SUCCESS) {
        PMIx_Info_free(info, count);
        return rc;
    }
    *ret_info = info;
    *ret_ninfo = count;
    return queries->answered_count == queries->asked_count ? PMIX_SUCCESS
                                                           : PMIX_ERR_PARTIAL_SUCCESS;
}
