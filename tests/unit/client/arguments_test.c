/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* arguments_test.c - every entry point judges what it is given before it does anything. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "alone.h"

static char endless_key[PMIX_MAX_KEYLEN + 9];
static char longest_key[PMIX_MAX_KEYLEN + 1];
static pmix_proc_t me, endless_proc;
static pmix_info_t endless_info;
static pmix_value_t number = { .type = PMIX_UINT32, .data.uint32 = 1 };
static pmix_value_t *ret;

static void begin(void)
{
    memset(endless_key, 'k', sizeof(endless_key));
    memset(longest_key, 'k', PMIX_MAX_KEYLEN);
    memset(endless_proc.nspace, 'n', sizeof(endless_proc.nspace));
    memset(endless_info.key, 'i', sizeof(endless_info.key));
    alone_init(&me);
}

TestSuite(arguments, .init = begin, .fini = alone_end);

static void never_op(pmix_status_t status, void *cbdata)
{
    (void)status;
    (void)cbdata;
    abort();
}

static void never_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    (void)value;
    never_op(status, cbdata);
}

static void never_info(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                       pmix_release_cbfunc_t release, void *release_cbdata)
{
    (void)info;
    (void)ninfo;
    (void)release;
    (void)release_cbdata;
    never_op(status, cbdata);
}

static void never_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                        pmix_info_t *info, size_t ninfo, pmix_info_t *results, size_t nresults,
                        pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    (void)cbfunc;
    never_op(status, cbdata);
}

/* What is written to stderr between these two goes to a file, and is then in @said. */
static int listen_begin(int *ret_stderr)
{
    const int fd = memfd_create("said", MFD_CLOEXEC);

    *ret_stderr = dup(STDERR_FILENO);
    cr_assert(fd >= 0 && *ret_stderr >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    return fd;
}

static void listen_end(int fd, int before, char *said, size_t size)
{
    const ssize_t got = pread(fd, said, size - 1, 0);

    said[got > 0 ? got : 0] = '\0';
    dup2(before, STDERR_FILENO);
    close(before);
    close(fd);
}

Test(arguments, put)
{
    const struct {
        const char *why;
        pmix_scope_t scope;
        const char *key;
        pmix_value_t *value;
        const char *says; /* NULL: it is taken */
    } rows[] = {
        { "no key", PMIX_GLOBAL, NULL, &number, "the key is NULL, empty, or longer than 511" },
        { "empty key", PMIX_GLOBAL, "", &number, "the key is NULL, empty, or longer than 511" },
        { "key without an end", PMIX_GLOBAL, endless_key, &number, "or longer than 511 bytes" },
        { "no value", PMIX_GLOBAL, "key", NULL, "PMIx_Put of \"key\": there is no value" },
        { "no scope", PMIX_SCOPE_UNDEF, "key", &number, "PMIx_Put of \"key\": 0 is no scope" },
        { "scope of nothing", 77, "key", &number, "PMIx_Put of \"key\": 77 is no scope" },
        { "longest key", PMIX_GLOBAL, longest_key, &number, NULL },
        { "reserved key", PMIX_GLOBAL, PMIX_HOSTNAME, &number, NULL },
        { "own data", PMIX_INTERNAL, "key", &number, NULL },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int before;
        const int fd = listen_begin(&before);
        const pmix_status_t rc = PMIx_Put(rows[i].scope, rows[i].key, rows[i].value);
        char said[1024];

        listen_end(fd, before, said, sizeof(said));
        cr_expect_eq(rc, rows[i].says == NULL ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM, "%s: %d",
                     rows[i].why, rc);
        cr_expect(rows[i].says == NULL ? said[0] == '\0' : strstr(said, rows[i].says) != NULL,
                  "%s: %s", rows[i].why, said);
    }
}

Test(arguments, get)
{
    pmix_proc_t nowhere = me, nobody = me;

    nowhere.rank = PMIX_RANK_INVALID;
    nobody.rank = PMIX_RANK_LOCAL_NODE;
    const struct {
        const char *why;
        const pmix_proc_t *proc;
        const char *key;
        const pmix_info_t *info;
        size_t ninfo;
        pmix_value_t **value;
        pmix_status_t want;
    } rows[] = {
        { "nowhere to put it", &me, "key", NULL, 0, NULL, PMIX_ERR_BAD_PARAM },
        { "empty key", &me, "", NULL, 0, &ret, PMIX_ERR_BAD_PARAM },
        { "key without an end", &me, endless_key, NULL, 0, &ret, PMIX_ERR_BAD_PARAM },
        { "namespace without an end", &endless_proc, "key", NULL, 0, &ret, PMIX_ERR_BAD_PARAM },
        { "infos missing", &me, "key", NULL, 2, &ret, PMIX_ERR_BAD_PARAM },
        { "info key without an end", &me, "key", &endless_info, 1, &ret, PMIX_ERR_BAD_PARAM },
        { "no rank", &nowhere, "key", NULL, 0, &ret, PMIX_ERR_BAD_PARAM },
        { "not one rank", &nobody, "key", NULL, 0, &ret, PMIX_ERR_BAD_PARAM },
        { "nothing there", &me, "key", NULL, 0, &ret, PMIX_ERR_NOT_FOUND },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ret = &number;
        cr_expect_eq(PMIx_Get(rows[i].proc, rows[i].key, rows[i].info, rows[i].ninfo,
                              rows[i].value),
                     rows[i].want, "%s", rows[i].why);
        cr_expect(rows[i].value == NULL || ret == NULL, "%s: no value", rows[i].why);
        if (rows[i].value != NULL && rows[i].want == PMIX_ERR_BAD_PARAM) {
            cr_expect_eq(PMIx_Get_nb(rows[i].proc, rows[i].key, rows[i].info, rows[i].ninfo,
                                     never_value, NULL),
                         rows[i].want, "%s, non-blocking", rows[i].why);
        }
    }
    cr_expect_eq(PMIx_Get_nb(&me, "key", NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
}

Test(arguments, directives_of_get)
{
    int negative = -1;
    bool yes = true;
    pmix_info_t info;

    PMIx_Info_load(&info, PMIX_TIMEOUT, &negative, PMIX_INT);
    cr_expect_eq(PMIx_Get(&me, "key", &info, 1, &ret), PMIX_ERR_BAD_PARAM);
    PMIx_Info_load(&info, "no.such.directive", &yes, PMIX_BOOL);
    cr_expect_eq(PMIx_Get(&me, PMIX_JOB_SIZE, &info, 1, &ret), PMIX_SUCCESS);
    free(ret);
    info.flags |= PMIX_INFO_REQD;
    cr_expect_eq(PMIx_Get(&me, PMIX_JOB_SIZE, &info, 1, &ret), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Info_load(&info, PMIX_HOSTNAME, &negative, PMIX_INT);
    cr_expect_eq(PMIx_Get(&me, PMIX_JOB_SIZE, &info, 1, &ret), PMIX_ERR_BAD_PARAM);
}

Test(arguments, store_internal)
{
    pmix_proc_t undefined = me;

    undefined.rank = PMIX_RANK_UNDEF;
    cr_expect_eq(PMIx_Store_internal(NULL, "key", &number), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Store_internal(&endless_proc, "key", &number), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Store_internal(&undefined, "key", &number), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Store_internal(&me, NULL, &number), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Store_internal(&me, endless_key, &number), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Store_internal(&me, "key", NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Store_internal(&me, "key", &number), PMIX_SUCCESS);
}

Test(arguments, fence)
{
    const pmix_proc_t stranger = { .nspace = "elsewhere", .rank = 0 };
    const pmix_proc_t nameless = { .rank = 0 };

    cr_expect_eq(PMIx_Fence(NULL, 1, NULL, 0), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Fence(&endless_proc, 1, NULL, 0), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Fence(&nameless, 1, NULL, 0), PMIX_SUCCESS, "it is our own namespace's");
    cr_expect_eq(PMIx_Fence(&stranger, 1, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    cr_expect_eq(PMIx_Fence(NULL, 0, NULL, 3), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Fence_nb(NULL, 1, NULL, 0, never_op, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Fence_nb(NULL, 0, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
}

Test(arguments, requests)
{
    pmix_info_t info;
    bool yes = true;

    PMIx_Info_load(&info, PMIX_CLEANUP_RECURSIVE, &yes, PMIX_BOOL);
    cr_expect_eq(PMIx_Abort(1, NULL, NULL, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Abort(1, NULL, &endless_proc, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Job_control(NULL, 1, &info, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Job_control(&me, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Job_control_nb(&endless_proc, 1, &info, 1, never_info, NULL),
                 PMIX_ERR_BAD_PARAM);
}

Test(arguments, handlers)
{
    cr_expect_eq(PMIx_Register_event_handler(NULL, 0, NULL, 0, NULL, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Register_event_handler(NULL, 2, NULL, 0, never_event, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Register_event_handler(NULL, 0, NULL, 2, never_event, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Register_event_handler(NULL, 0, &endless_info, 1, never_event, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Deregister_event_handler(5, NULL, NULL), PMIX_ERR_BAD_PARAM);
}

Test(arguments, init_and_finalize)
{
    cr_expect_eq(PMIx_Init(NULL, NULL, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Finalize(NULL, 1), PMIX_ERR_BAD_PARAM);
    cr_expect(PMIx_Initialized());
}

Test(arguments, nothing_works_before_init)
{
    PMIx_Finalize(NULL, 0);
    cr_expect_eq(PMIx_Put(PMIX_GLOBAL, "key", &number), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Commit(), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Get(&me, "key", NULL, 0, &ret), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Get_nb(&me, "key", NULL, 0, never_value, NULL), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Store_internal(&me, "key", &number), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Fence_nb(NULL, 0, NULL, 0, never_op, NULL), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Abort(1, NULL, NULL, 0), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Register_event_handler(NULL, 0, NULL, 0, never_event, NULL, NULL),
                 PMIX_ERR_INIT);
    PMIx_Progress();
}

Test(environment, a_rank_that_is_none_is_refused)
{
    static const char *const ranks[] = { NULL, "",           "x",  "1x",
                                         "-1", "4294967295", " 3", "99999999999999999999999" };

    setenv("PMIX_NAMESPACE", "job", 1);
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        unsetenv("PMIX_RANK");
        if (ranks[i] != NULL) {
            setenv("PMIX_RANK", ranks[i], 1);
        }
        cr_expect_eq(PMIx_Init(NULL, NULL, 0), PMIX_ERR_BAD_PARAM, "rank %s",
                     ranks[i] != NULL ? ranks[i] : "missing");
        cr_expect_not(PMIx_Initialized());
    }
    memset(endless_key, 'n', sizeof(endless_key) - 1);
    setenv("PMIX_RANK", "0", 1);
    setenv("PMIX_NAMESPACE", endless_key, 1);
    cr_expect_eq(PMIx_Init(NULL, NULL, 0), PMIX_ERR_BAD_PARAM);
}

Test(environment, a_server_that_is_gone_leaves_a_singleton)
{
    pmix_proc_t proc;

    setenv("PMIX_NAMESPACE", "job", 1);
    setenv("PMIX_RANK", "1", 1);
    setenv("SHMIX_SERVER_URI", "unix:/nowhere/at/all", 1);
    unsetenv("SHMIX_SERVER_FD");
    cr_expect_eq(PMIx_Init(&proc, NULL, 0), PMIX_ERR_UNREACH);
    cr_expect_eq(strncmp(proc.nspace, "singleton.", 10), 0);
    cr_expect_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

/* ---- what a call that fails gives
 * ------------------------------------------------------------- */

static pmix_info_t *infos;
static pmix_proc_t *procs;
static pmix_device_distance_t *distances;
static char *text;
static void *copy;
static pmix_byte_object_t bytes;
static size_t count;

#define FAILS(name, call)              \
    static bool name(void)             \
    {                                  \
        return (call) != PMIX_SUCCESS; \
    }

FAILS(construct, PMIx_Group_construct("g", NULL, 1, NULL, 0, &infos, &count))
FAILS(invite, PMIx_Group_invite("g", NULL, 1, NULL, 0, &infos, &count))
FAILS(accept, PMIx_Group_join("", NULL, PMIX_GROUP_ACCEPT, NULL, 0, &infos, &count))
FAILS(query, PMIx_Query_info(NULL, 1, &infos, &count))
FAILS(control, PMIx_Job_control(NULL, 0, NULL, 0, &infos, &count))
FAILS(watch, PMIx_Process_monitor(NULL, PMIX_ERROR, NULL, 0, &infos, &count))
FAILS(allocate, PMIx_Allocation_request(PMIX_ALLOC_NEW, NULL, 0, &infos, &count))
FAILS(validate, PMIx_Validate_credential(NULL, NULL, 0, &infos, &count))
FAILS(peers, PMIx_Resolve_peers(NULL, "nobody", &procs, &count))
FAILS(nodes, PMIx_Resolve_nodes("nobody", &text))
FAILS(compute, PMIx_Compute_distances(NULL, NULL, NULL, 1, &distances, &count))
FAILS(data_copy, PMIx_Data_copy(&copy, NULL, PMIX_STRING))
FAILS(data_print, PMIx_Data_print(&text, NULL, NULL, 60000))
FAILS(regex, PMIx_generate_regex(NULL, &text))
FAILS(ppn, PMIx_generate_ppn(NULL, &text))
FAILS(regex2, PMIx_parse_regex2(NULL, NULL, 0, &text))
FAILS(locality, PMIx_server_generate_locality_string(NULL, &text))
FAILS(cpuset, PMIx_server_generate_cpuset_string(NULL, &text))
FAILS(credential, PMIx_Get_credential(&endless_info, 1, &bytes))

Test(arguments, a_call_that_fails_leaves_nothing_to_free)
{
    static bool (*const calls[])(void) = {
        construct, invite, accept,   query,   control,    watch,      allocate,
        validate,  peers,  nodes,    compute, data_copy,  data_print, regex,
        ppn,       regex2, locality, cpuset,  credential,
    };

    for (int round = 0; round < 2; round++) { /* initialised, and not */
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
            const size_t most = SIZE_MAX;

            infos = (pmix_info_t *)8;
            procs = (pmix_proc_t *)8;
            distances = (pmix_device_distance_t *)8;
            text = (char *)8;
            copy = (void *)8;
            bytes = (pmix_byte_object_t){ .bytes = (char *)8, .size = 8 };
            count = most;
            cr_expect(calls[i](), "call %zu succeeds", i);
            cr_expect(infos == NULL || procs == NULL || distances == NULL || text == NULL ||
                          copy == NULL || bytes.bytes == NULL,
                      "call %zu leaves its pointer", i);
            cr_expect(text == NULL || copy == NULL || bytes.size == 0 || count == 0,
                      "call %zu leaves its count", i);
        }
        alone_end();
    }
}
