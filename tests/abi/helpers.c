/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* helpers.c - the helpers of the headers, called the same way with any PMIx library.
 *
 * check_helpers.py builds it with our headers and library, and with those of another one, and
 * compares the lines: "what was called: what came of it".  Macros alone, as all headers have them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Runs of bytes: "00*8 ff 00*3". */
static void bytes_say(const char *what, const void *at, size_t size)
{
    const unsigned char *const bytes = at;
    size_t run = 0;

    printf("%s:", what);
    for (size_t i = 0; i < size; i += run) {
        run = 1;
        while (i + run < size && bytes[i + run] == bytes[i]) {
            run++;
        }
        printf(run > 1 ? " %02x*%zu" : " %02x", bytes[i], run);
    }
    printf("\n");
}

/* ---- empty structs --------------------------------------------------------------------------- */

#define EMPTY(NAME, type)                                        \
    do {                                                         \
        type one;                                                \
        type *some;                                              \
        memset(&one, 0x5a, sizeof(one));                         \
        PMIX_##NAME                                              \
        ##_CONSTRUCT(&one);                                      \
        bytes_say(#NAME "_CONSTRUCT", &one, sizeof(one));        \
        PMIX_##NAME                                              \
        ##_CREATE(some, 2);                                      \
        bytes_say(#NAME "_CREATE", some, 2 * sizeof(*some));     \
        PMIX_##NAME                                              \
        ##_FREE(some, 2);                                        \
        printf(#NAME "_FREE: %s\n", some == NULL ? "NULL" : ""); \
    } while (0)

static void empties(void)
{
    EMPTY(APP, pmix_app_t);
    EMPTY(BYTE_OBJECT, pmix_byte_object_t);
    EMPTY(DEVICE_DIST, pmix_device_distance_t);
    EMPTY(ENDPOINT, pmix_endpoint_t);
    EMPTY(ENVAR, pmix_envar_t);
    EMPTY(GEOMETRY, pmix_geometry_t);
    EMPTY(INFO, pmix_info_t);
    EMPTY(PDATA, pmix_pdata_t);
    EMPTY(PROC, pmix_proc_t);
    EMPTY(PROC_INFO, pmix_proc_info_t);
    EMPTY(QUERY, pmix_query_t);
    EMPTY(REGATTR, pmix_regattr_t);
    EMPTY(VALUE, pmix_value_t);
    EMPTY(PROC_STATS, pmix_proc_stats_t);
    EMPTY(NODE_STATS, pmix_node_stats_t);
    EMPTY(DISK_STATS, pmix_disk_stats_t);
    EMPTY(NET_STATS, pmix_net_stats_t);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void names(void)
{
    static const char *const texts[] = { "", "a", "a.b", "pmix.x", "PMIX.x", "pmi" };
    pmix_nspace_t nspace;
    pmix_key_t key;

    for (size_t i = 0; i < COUNT(texts); i++) {
        PMIX_LOAD_NSPACE(nspace, texts[i]);
        PMIX_LOAD_KEY(key, texts[i]);
        printf("LOAD '%s': '%s' '%s' reserved %d invalid %d\n", texts[i], nspace, key,
               !!PMIX_CHECK_RESERVED_KEY(key), !!PMIX_NSPACE_INVALID(nspace));
        for (size_t j = 0; j < COUNT(texts); j++) {
            pmix_info_t info;

            PMIX_INFO_CONSTRUCT(&info);
            PMIX_LOAD_KEY(info.key, texts[j]);
            printf("CHECK '%s' '%s': key %d nspace %d\n", texts[i], texts[j],
                   !!PMIX_CHECK_KEY(&info, texts[i]), !!PMIX_CHECK_NSPACE(nspace, texts[j]));
        }
    }
    memset(nspace, 'x', sizeof(nspace));
    memset(key, 'x', sizeof(key));
    PMIX_LOAD_NSPACE(nspace, (char *)NULL);
    PMIX_LOAD_KEY(key, (char *)NULL);
    printf("LOAD NULL: '%s' '%s'\n", nspace, key);
}

static void procs(void)
{
    static const pmix_rank_t ranks[] = { 0,
                                         1,
                                         PMIX_RANK_VALID,
                                         PMIX_RANK_UNDEF,
                                         PMIX_RANK_WILDCARD,
                                         PMIX_RANK_LOCAL_NODE,
                                         PMIX_RANK_INVALID };
    pmix_proc_t a, b, c;

    for (size_t i = 0; i < COUNT(ranks); i++) {
        PMIX_LOAD_PROCID(&a, "job", ranks[i]);
        printf("PROCID %u: invalid %d\n", ranks[i], !!PMIX_PROCID_INVALID(&a));
        PMIX_XFER_PROCID(&c, &a);
        printf("XFER_PROCID %u: %s %u\n", ranks[i], c.nspace, c.rank);
        for (size_t j = 0; j < COUNT(ranks); j++) {
            PMIX_LOAD_PROCID(&b, j % 2 ? "job" : "", ranks[j]);
            printf("CHECK %u %u: rank %d procid %d\n", ranks[i], ranks[j],
                   !!PMIX_CHECK_RANK(ranks[i], ranks[j]), !!PMIX_CHECK_PROCID(&a, &b));
        }
    }
}

/* ---- vectors and variables ------------------------------------------------------------------- */

static void argv_say(const char *what, char **argv)
{
    printf("%s:", what);
    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
        printf(" [%s]", argv[i]);
    }
    printf("\n");
}

static void vectors(void)
{
    static const char *const texts[] = { "a,b,c", "a,,b", ",a", "a,", ",", "", "a" };
    char **argv = NULL, **copy = NULL, **env = NULL;
    char *text = NULL, what[64];
    pmix_status_t rc;
    int count;

    for (size_t i = 0; i < COUNT(texts); i++) {
        char **some = NULL;

        PMIX_ARGV_SPLIT(some, (char *)(uintptr_t)texts[i], ',');
        snprintf(what, sizeof(what), "ARGV_SPLIT '%s'", texts[i]);
        argv_say(what, some);
        PMIX_ARGV_COUNT(count, some);
        printf("ARGV_COUNT '%s': %d\n", texts[i], count);
        PMIX_ARGV_JOIN(text, some, '+');
        printf("ARGV_JOIN '%s': '%s'\n", texts[i], text != NULL ? text : "(NULL)");
        free(text);
        PMIX_ARGV_FREE(some);
    }
    PMIX_ARGV_APPEND(rc, argv, "one");
    printf("ARGV_APPEND: %d\n", rc);
    PMIX_ARGV_APPEND_UNIQUE(rc, &argv, "one");
    printf("ARGV_APPEND_UNIQUE: %d\n", rc);
    PMIX_ARGV_APPEND_UNIQUE(rc, &argv, "two");
    printf("ARGV_APPEND_UNIQUE: %d\n", rc);
    PMIX_ARGV_PREPEND(rc, argv, "zero");
    printf("ARGV_PREPEND: %d\n", rc);
    argv_say("ARGV", argv);
    PMIX_ARGV_COPY(copy, argv);
    argv_say("ARGV_COPY", copy);
    PMIX_ARGV_FREE(argv);
    PMIX_ARGV_FREE(copy);
    static const char *const values[][2] = { { "A", "1" }, { "AB", "2" }, { "A", "3" },
                                             { "C", "" },  { "D", NULL }, { "A", NULL } };

    for (size_t i = 0; i < COUNT(values); i++) {
        PMIX_SETENV(rc, values[i][0], values[i][1], &env);
        printf("SETENV %s %s: %d", values[i][0], values[i][1] != NULL ? values[i][1] : "NULL", rc);
        argv_say("", env);
    }
    PMIX_ARGV_FREE(env);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void value_say(const char *what, pmix_status_t rc, pmix_value_t *value)
{
    uint64_t number = 0;
    pmix_status_t got = PMIX_ERR_BAD_PARAM;

    PMIX_VALUE_GET_NUMBER(got, value, number, uint64_t);
    printf("%s: %d type %u number %d %lu\n", what, rc, value->type, got,
           (unsigned long)(got == PMIX_SUCCESS ? number : 0));
}

static void numbers(void)
{
    static const struct {
        const char *what;
        pmix_data_type_t type;
    } rows[] = {
        { "INT8", PMIX_INT8 },           { "INT16", PMIX_INT16 },   { "INT32", PMIX_INT32 },
        { "INT64", PMIX_INT64 },         { "UINT8", PMIX_UINT8 },   { "UINT16", PMIX_UINT16 },
        { "UINT32", PMIX_UINT32 },       { "UINT64", PMIX_UINT64 }, { "INT", PMIX_INT },
        { "UINT", PMIX_UINT },           { "SIZE", PMIX_SIZE },     { "PID", PMIX_PID },
        { "PROC_RANK", PMIX_PROC_RANK }, { "STATUS", PMIX_STATUS }, { "BYTE", PMIX_BYTE },
    };
    const uint64_t seven = 7;

    for (size_t i = 0; i < COUNT(rows); i++) {
        pmix_value_t value, copy;
        pmix_status_t rc = PMIX_SUCCESS;

        PMIX_VALUE_CONSTRUCT(&value);
        PMIX_VALUE_CONSTRUCT(&copy);
        PMIX_VALUE_LOAD(&value, (void *)(uintptr_t)&seven, rows[i].type);
        value_say(rows[i].what, rc, &value);
        PMIX_VALUE_XFER_DIRECT(rc, &copy, &value);
        value_say(rows[i].what, rc, &copy);
    }
}

static void values(void)
{
    pmix_value_t value, copy;
    pmix_byte_object_t bytes = { (char *)(uintptr_t) "abc", 3 };
    pmix_proc_t proc;
    pmix_data_array_t empty = { PMIX_UINT32, 0, NULL };
    pmix_status_t rc = PMIX_SUCCESS;
    void *data = NULL;
    size_t size = 0;

    PMIX_VALUE_CONSTRUCT(&value);
    PMIX_VALUE_LOAD(&value, (void *)(uintptr_t) "text", PMIX_STRING);
    printf("VALUE_LOAD STRING: %u '%s'\n", value.type, value.data.string);
    PMIX_VALUE_UNLOAD(rc, &value, &data, &size);
    printf("VALUE_UNLOAD STRING: %d %zu '%s'\n", rc, size, (char *)data);
    PMIX_VALUE_CONSTRUCT(&value);
    PMIX_VALUE_LOAD(&value, &bytes, PMIX_BYTE_OBJECT);
    printf("VALUE_LOAD BYTE_OBJECT: %u %zu\n", value.type, value.data.bo.size);
    PMIX_VALUE_DESTRUCT(&value);
    PMIX_LOAD_PROCID(&proc, "job", 3);
    PMIX_VALUE_CONSTRUCT(&value);
    PMIX_VALUE_LOAD(&value, &proc, PMIX_PROC);
    printf("VALUE_LOAD PROC: %u %s %u\n", value.type, value.data.proc->nspace,
           value.data.proc->rank);
    PMIX_VALUE_CONSTRUCT(&value);
    PMIX_VALUE_LOAD(&value, NULL, PMIX_BOOL);
    printf("VALUE_LOAD BOOL NULL: %u %d\n", value.type, value.data.flag);
    value.type = PMIX_DATA_ARRAY;
    value.data.darray = &empty;
    for (size_t count = 0; count < 4; count += 3) {
        empty.size = count;
        PMIX_VALUE_CONSTRUCT(&copy);
        rc = PMIx_Value_xfer(&copy, &value);
        printf("VALUE_XFER NULL array of %zu: %d size %zu\n", count, rc, copy.data.darray->size);
    }
}

static void infos(void)
{
    static const char *const words[] = { "true", "false", "TRUE", "yes", "no", "1", "0", "", "t" };
    pmix_info_t info, copy;
    bool flag = false;

    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, "key", NULL, PMIX_BOOL);
    printf("INFO_LOAD NULL: true %d required %d optional %d\n", !!PMIX_INFO_TRUE(&info),
           !!PMIX_INFO_IS_REQUIRED(&info), !!PMIX_INFO_IS_OPTIONAL(&info));
    PMIX_INFO_REQUIRED(&info);
    printf("INFO_REQUIRED: %x\n", info.flags);
    PMIX_INFO_OPTIONAL(&info);
    printf("INFO_OPTIONAL: %x\n", info.flags);
    PMIX_INFO_PROCESSED(&info);
    PMIX_INFO_SET_END(&info);
    printf("INFO flags: %x end %d\n", info.flags, !!PMIX_INFO_IS_END(&info));
    PMIX_INFO_CONSTRUCT(&copy);
    PMIX_INFO_XFER(&copy, &info);
    printf("INFO_XFER: %s %x %u\n", copy.key, copy.flags, copy.value.type);
    PMIX_INFO_LOAD(&info, "key", &flag, PMIX_BOOL);
    printf("INFO_LOAD false: true %d\n", !!PMIX_INFO_TRUE(&info));
    for (size_t i = 0; i < COUNT(words); i++) {
        PMIX_INFO_CONSTRUCT(&info);
        PMIX_INFO_LOAD(&info, "key", words[i], PMIX_STRING);
        printf("INFO_TRUE '%s': %d\n", words[i], !!PMIX_INFO_TRUE(&info));
        PMIX_INFO_DESTRUCT(&info);
    }
}

static void lists(void)
{
    pmix_data_array_t array;
    uint32_t number = 5;
    pmix_status_t rc;
    void *list;

    PMIX_INFO_LIST_START(list);
    PMIX_INFO_LIST_CONVERT(rc, list, &array);
    printf("INFO_LIST_CONVERT empty: %d\n", rc);
    PMIX_INFO_LIST_ADD(rc, list, "a", &number, PMIX_UINT32);
    printf("INFO_LIST_ADD: %d\n", rc);
    PMIX_INFO_LIST_ADD(rc, list, "b", "text", PMIX_STRING);
    PMIX_INFO_LIST_CONVERT(rc, list, &array);
    printf("INFO_LIST_CONVERT: %d %u %zu %s %s\n", rc, array.type, array.size,
           ((pmix_info_t *)array.array)[0].key, ((pmix_info_t *)array.array)[1].key);
    PMIX_INFO_LIST_RELEASE(list);
    PMIX_DATA_ARRAY_DESTRUCT(&array);
    PMIX_DATA_ARRAY_CONSTRUCT(&array, 3, PMIX_UINT16);
    printf("DATA_ARRAY_CONSTRUCT: %u %zu %s\n", array.type, array.size,
           array.array != NULL ? "there" : "NULL");
    PMIX_DATA_ARRAY_DESTRUCT(&array);
    printf("DATA_ARRAY_DESTRUCT: %u %zu %s\n", array.type, array.size,
           array.array != NULL ? "there" : "NULL");
}

/* ---- texts ----------------------------------------------------------------------------------- */

#define TEXT(call) printf(#call ": %s\n", call)

static void texts(void)
{
    TEXT(PMIx_Error_string(PMIX_SUCCESS));
    TEXT(PMIx_Error_string(PMIX_ERR_NOT_FOUND));
    TEXT(PMIx_Proc_state_string(PMIX_PROC_STATE_RUNNING));
    TEXT(PMIx_Scope_string(PMIX_GLOBAL));
    TEXT(PMIx_Persistence_string(PMIX_PERSIST_APP));
    TEXT(PMIx_Data_range_string(PMIX_RANGE_LOCAL));
    TEXT(PMIx_Info_directives_string(PMIX_INFO_REQD));
    TEXT(PMIx_Data_type_string(PMIX_STRING));
    TEXT(PMIx_Alloc_directive_string(PMIX_ALLOC_NEW));
    TEXT(PMIx_IOF_channel_string(PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL));
    TEXT(PMIx_Job_state_string(PMIX_JOB_STATE_RUNNING));
    TEXT(PMIx_Get_attribute_string("PMIX_JOB_SIZE"));
    TEXT(PMIx_Get_attribute_name("pmix.job.size"));
    TEXT(PMIx_Link_state_string(PMIX_LINK_UP));
    TEXT(PMIx_Device_type_string(PMIX_DEVTYPE_GPU));
    TEXT(PMIx_Get_attribute_string("nonsense"));
}

int main(void)
{
    static pmix_server_module_t module;

    /* Some libraries have no values before. */
    if (PMIx_server_init(&module, NULL, 0) != PMIX_SUCCESS) {
        fprintf(stderr, "PMIx_server_init fails\n");
        return 1;
    }
    setvbuf(stdout, NULL, _IONBF, 0);
    empties();
    names();
    procs();
    vectors();
    numbers();
    values();
    infos();
    lists();
    texts();
    printf("end\n");
    return PMIx_server_finalize() == PMIX_SUCCESS ? 0 : 1;
}
