/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* releases.c - the macros that free structures free all that the structures own.
 *
 * One row for each structure.  The heap in use grows by less than a block a round.  The program
 * uses the macros of the headers and the functions of 4.2.2 only, so it runs on any libpmix. */
#include <malloc.h>
#include <stdio.h>

#include <pmix.h>

#define ROUNDS_FEW 20u
#define ROUNDS_MANY 200u
#define LEAST 16u /* bytes of a block that a round leaks */
#define ELEMENTS 3u

static char *text_new(void)
{
    char *const text = malloc(1000);

    if (text == NULL) {
        abort();
    }
    memset(text, 'a', 999);
    text[999] = '\0';
    return text;
}

static char **vector_new(void)
{
    char **argv = NULL;
    pmix_status_t rc;

    PMIX_ARGV_APPEND(rc, argv, "one");
    PMIX_ARGV_PREPEND(rc, argv, "two");
    return rc == PMIX_SUCCESS ? argv : NULL;
}

static void value_fill(pmix_value_t *value)
{
    value->type = PMIX_STRING;
    value->data.string = text_new();
}

static pmix_info_t *infos_new(void)
{
    pmix_info_t *infos;

    PMIX_INFO_CREATE(infos, 2);
    value_fill(&infos[0].value);
    return infos;
}

/* Create, fill with FILL (of element @e), destruct the first, free all. */
#define ROW(name, c_type, FILL)                               \
    static void name##_round(void)                            \
    {                                                         \
        c_type *all, one;                                     \
        name##_CONSTRUCT(&one);                               \
        name##_CREATE(all, ELEMENTS);                         \
        for (size_t i = 0; i <= ELEMENTS; i++) {              \
            c_type *const e = i == ELEMENTS ? &one : &all[i]; \
            FILL                                              \
        }                                                     \
        name##_DESTRUCT(&one);                                \
        name##_FREE(all, ELEMENTS);                           \
    }

ROW(PMIX_VALUE, pmix_value_t, value_fill(e);)
ROW(PMIX_INFO, pmix_info_t, value_fill(&e->value);)
ROW(PMIX_PDATA, pmix_pdata_t, value_fill(&e->value);)
ROW(PMIX_PROC, pmix_proc_t, e->rank = 0;)
ROW(PMIX_APP, pmix_app_t, e->cmd = text_new(); e->cwd = text_new(); e->argv = vector_new();
    e->env = vector_new(); e->info = infos_new(); e->ninfo = 2;)
ROW(PMIX_QUERY, pmix_query_t, e->keys = vector_new(); e->qualifiers = infos_new(); e->nqual = 2;)
ROW(PMIX_PROC_INFO, pmix_proc_info_t, e->hostname = text_new(); e->executable_name = text_new();)
ROW(PMIX_BYTE_OBJECT, pmix_byte_object_t, e->bytes = text_new(); e->size = 1000;)
ROW(PMIX_ENVAR, pmix_envar_t, e->envar = text_new(); e->value = text_new();)
ROW(PMIX_REGATTR, pmix_regattr_t, e->name = text_new(); e->description = vector_new();)
ROW(PMIX_CPUSET, pmix_cpuset_t, (void)e;)
ROW(PMIX_TOPOLOGY, pmix_topology_t, (void)e;)
ROW(PMIX_GEOMETRY, pmix_geometry_t, e->uuid = text_new(); e->osname = text_new();)
ROW(PMIX_DEVICE_DIST, pmix_device_distance_t, e->uuid = text_new(); e->osname = text_new();)
ROW(PMIX_ENDPOINT, pmix_endpoint_t, e->uuid = text_new(); e->endpt.bytes = text_new();
    e->endpt.size = 1000;)
ROW(PMIX_PROC_STATS, pmix_proc_stats_t, e->node = text_new(); e->cmd = text_new();)
ROW(PMIX_DISK_STATS, pmix_disk_stats_t, e->disk = text_new();)
ROW(PMIX_NET_STATS, pmix_net_stats_t, e->net_interface = text_new();)
ROW(PMIX_NODE_STATS, pmix_node_stats_t, e->node = text_new();)

static void PMIX_COORD_round(void)
{
    pmix_coord_t *coords;

    PMIX_COORD_CREATE(coords, ELEMENTS, 250);
    PMIX_COORD_FREE(coords, ELEMENTS);
}

static void PMIX_DATA_ARRAY_round(void)
{
    pmix_data_array_t *array;

    PMIX_DATA_ARRAY_CREATE(array, ELEMENTS, PMIX_INFO);
    value_fill(&((pmix_info_t *)array->array)[1].value);
    PMIX_DATA_ARRAY_FREE(array);
}

static void PMIX_DATA_BUFFER_round(void)
{
    pmix_data_buffer_t *buffer;
    char *text = text_new();
    size_t size = 0;

    PMIX_DATA_BUFFER_CREATE(buffer);
    PMIX_DATA_BUFFER_LOAD(buffer, text, 1000);
    buffer->unpack_ptr += 10;
    PMIX_DATA_BUFFER_UNLOAD(buffer, text, size);
    if (size != 990) {
        abort();
    }
    free(text);
    PMIX_DATA_BUFFER_LOAD(buffer, text_new(), 1000);
    PMIX_DATA_BUFFER_RELEASE(buffer);
}

static void PMIX_ARGV_round(void)
{
    char **argv, **copy, *joined, **env = NULL;
    pmix_status_t rc;

    PMIX_ARGV_SPLIT(argv, "a,,b", ',');
    PMIX_ARGV_COPY(copy, argv);
    PMIX_ARGV_JOIN(joined, copy, '-');
    if (joined == NULL || strcmp(joined, "a-b") != 0) {
        abort();
    }
    PMIX_SETENV(rc, "A", "1", &env);
    PMIX_SETENV(rc, "A", "2", &env);
    if (rc != PMIX_SUCCESS || strcmp(env[0], "A=2") != 0 || env[1] != NULL) {
        abort();
    }
    free(joined);
    PMIX_ARGV_FREE(argv);
    PMIX_ARGV_FREE(copy);
    PMIX_ARGV_FREE(env);
}

static void PMIX_REGATTR_copies_round(void)
{
    pmix_regattr_t from, to;

    PMIX_REGATTR_LOAD(&from, "NAME", "key", PMIX_BOOL, "a line");
    PMIX_REGATTR_XFER(&to, &from);
    if (strcmp(to.name, "NAME") != 0 || strcmp(to.description[0], "a line") != 0) {
        abort();
    }
    PMIX_REGATTR_DESTRUCT(&from);
    PMIX_REGATTR_DESTRUCT(&to);
}

#define R(name)             \
    {                       \
#name, name##_round \
    }
static const struct {
    const char *name;
    void (*round)(void);
} rows[] = { R(PMIX_VALUE),      R(PMIX_INFO),        R(PMIX_PDATA),      R(PMIX_PROC),
             R(PMIX_APP),        R(PMIX_QUERY),       R(PMIX_PROC_INFO),  R(PMIX_BYTE_OBJECT),
             R(PMIX_ENVAR),      R(PMIX_REGATTR),     R(PMIX_CPUSET),     R(PMIX_TOPOLOGY),
             R(PMIX_GEOMETRY),   R(PMIX_DEVICE_DIST), R(PMIX_ENDPOINT),   R(PMIX_PROC_STATS),
             R(PMIX_DISK_STATS), R(PMIX_NET_STATS),   R(PMIX_NODE_STATS), R(PMIX_COORD),
             R(PMIX_DATA_ARRAY), R(PMIX_DATA_BUFFER), R(PMIX_ARGV),       R(PMIX_REGATTR_copies) };

int main(void)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t few = 0, many;

        for (unsigned round = 0; round < ROUNDS_MANY; round++) {
            few = round == ROUNDS_FEW ? (size_t)mallinfo2().uordblks : few;
            rows[i].round();
        }
        many = (size_t)mallinfo2().uordblks;
        if (many > few + LEAST * (ROUNDS_MANY - ROUNDS_FEW)) {
            fprintf(stderr, "%s: %zu bytes more in use after %u rounds\n", rows[i].name, many - few,
                    ROUNDS_MANY - ROUNDS_FEW);
            bad = 1;
        }
    }
    return bad;
}
