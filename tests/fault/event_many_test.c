/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_many_test.c - ten thousand handlers, names of 10 KB, events of ten thousand infos, of too
 * many bytes, without memory or descriptors to carry them: what works works whole, and what does
 * not is said. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"

#define CODE (PMIX_EXTERNAL_ERR_BASE - 13)
#define HANDLERS 10000
#define INFOS 10000
#define NAME_BYTES 10240
enum { READER, STOPPED = 2 };
enum { READY = 1, DONE = 2 };

static pmix_status_t handler_add(pmix_status_t code, const char *directive, const char *name,
                                 const char *beside, pmix_notification_fn_t fn)
{
    pmix_info_t info[2];
    bool yes = true;
    const void *value = beside != NULL ? (const void *)beside : &yes;

    CHECK_STATUS(PMIx_Info_load(&info[0], PMIX_EVENT_HDLR_NAME, name, PMIX_STRING), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[1], directive, value,
                                beside != NULL ? PMIX_STRING : PMIX_BOOL),
                 PMIX_SUCCESS);
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, info, 2, fn, NULL, NULL);

    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    return id;
}

static void notify(pmix_status_t code)
{
    CHECK_STATUS(PMIx_Notify_event(code, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
}

/* From now on there is no descriptor for anything new. */
static void files_use_up(void)
{
    const int lowest = dup(STDERR_FILENO);

    CHECK(lowest >= 0, "no descriptor is left already");
    close(lowest);
    fault_files_limit((unsigned)lowest);
}

/* ---- handlers ------------------------------------------------------------------------------- */

static _Atomic uint32_t called, out_of_order;
static uint32_t place_of[HANDLERS + 10]; /* by id, as they are to be called */

static void on_one(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    atomic_fetch_add(&out_of_order,
                     place_of[id] != atomic_load(&called) || nresults < place_of[id]);
    atomic_fetch_add(&called, 1);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

/* Register them all, each behind the one before by name; one event goes through all in order. */
static int role_handlers(const char *arg)
{
    static size_t ids[HANDLERS];
    char name[32], before[32];

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    const uint64_t begin_ns = fault_now_ns();

    for (uint32_t i = 0; i < HANDLERS; i++) {
        snprintf(name, sizeof(name), "handler.%u", i);
        snprintf(before, sizeof(before), "handler.%u", i - 1);
        const pmix_status_t id = i % 2 == 0
                                     ? handler_add(CODE, PMIX_EVENT_HDLR_APPEND, name, NULL, on_one)
                                     : handler_add(CODE, PMIX_EVENT_HDLR_AFTER, name, before,
                                                   on_one);

        CHECK(id >= 0 && id < HANDLERS + 10, "handler %u: %d", i, id);
        ids[i] = (size_t)id;
        place_of[id] = i;
    }
    CHECK(handler_add(CODE, PMIX_EVENT_HDLR_APPEND, "handler.77", NULL, on_one) ==
              PMIX_ERR_EVENT_REGISTRATION,
          "a name is taken twice");
    const uint64_t there_ns = fault_now_ns();

    notify(CODE);
    WAIT_FOR(atomic_load(&called) == HANDLERS, "the last handler");
    const uint64_t called_ns = fault_now_ns();

    CHECK(atomic_load(&out_of_order) == 0, "%u out of order", atomic_load(&out_of_order));
    for (uint32_t i = 0; i < HANDLERS; i++) {
        CHECK_STATUS(PMIx_Deregister_event_handler(ids[i], NULL, NULL), PMIX_SUCCESS);
    }
    fault_say("%u handlers: %llu ms to register, %llu ms for an event, %llu ms to deregister",
              HANDLERS, (unsigned long long)(there_ns - begin_ns) / 1000000,
              (unsigned long long)(called_ns - there_ns) / 1000000,
              (unsigned long long)(fault_now_ns() - called_ns) / 1000000);
    notify(CODE);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(atomic_load(&called) == HANDLERS, "a handler that is gone was called");
    return 0;
}

/* Names as long as names may be, which differ in their last letter only; longer ones are refused */
static int role_names(const char *arg)
{
    static char names[3][NAME_BYTES + 1];
    pmix_status_t ids[3];

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    memset(names[0], 'n', NAME_BYTES);
    CHECK(handler_add(CODE, PMIX_EVENT_HDLR_APPEND, names[0], NULL, on_one) == PMIX_ERR_BAD_PARAM,
          "a name of %d bytes", NAME_BYTES);
    for (int i = 0; i < 3; i++) {
        memset(names[i], 'n', PMIX_MAX_KEYLEN);
        names[i][PMIX_MAX_KEYLEN - 1] = (char)('0' + i);
        names[i][PMIX_MAX_KEYLEN] = '\0';
    }
    ids[0] = handler_add(CODE, PMIX_EVENT_HDLR_APPEND, names[0], NULL, on_one);
    ids[2] = handler_add(CODE, PMIX_EVENT_HDLR_AFTER, names[2], names[0], on_one);
    ids[1] = handler_add(CODE, PMIX_EVENT_HDLR_BEFORE, names[1], names[2], on_one);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(ids[i] >= 0 && ids[i] < HANDLERS, "%d", ids[i]);
        place_of[ids[i]] = i;
    }
    CHECK(handler_add(CODE, PMIX_EVENT_HDLR_APPEND, names[1], NULL, on_one) ==
              PMIX_ERR_EVENT_REGISTRATION,
          "a name is taken twice");
    notify(CODE);
    WAIT_FOR(atomic_load(&called) == 3, "the handlers");
    CHECK(atomic_load(&out_of_order) == 0, "out of order");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* ---- infos ---------------------------------------------------------------------------------- */

static void on_infos(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    CHECK(ninfo >= INFOS, "%zu infos", ninfo);
    for (uint32_t i = 0; i < INFOS; i++) {
        CHECK(info[i].value.type == PMIX_UINT32 && info[i].value.data.uint32 == i * 3, "info %u",
              i);
    }
    atomic_fetch_add(&called, 1);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t publish_bytes(size_t size)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    memcpy(info.key, "many.bytes", sizeof("many.bytes"));
    info.value.type = PMIX_BYTE_OBJECT;
    info.value.data.bo.bytes = calloc(1, size);
    info.value.data.bo.size = size;
    const pmix_status_t rc = PMIx_Notify_event(CODE - 1, NULL, PMIX_RANGE_LOCAL, &info, 1, NULL,
                                               NULL);

    free(info.value.data.bo.bytes);
    return rc;
}

static int role_infos(const char *arg)
{
    pmix_info_t *const info = calloc(INFOS, sizeof(*info));
    pmix_info_t endless;

    CHECK(info != NULL, "no memory");
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK(handler_add(CODE, PMIX_EVENT_HDLR_APPEND, "infos", NULL, on_infos) >= 0, "no handler");
    /* Descriptors that are out cost this event and nothing else. */
    files_use_up();
    CHECK_STATUS(publish_bytes(1u << 20), PMIX_ERR_OUT_OF_RESOURCE);
    CHECK(fault_files_raise(1024), "the limit stays");
    CHECK_STATUS(publish_bytes(1u << 20), PMIX_SUCCESS);
    for (uint32_t i = 0; i < INFOS; i++) {
        snprintf(info[i].key, sizeof(info[i].key), "many.info.%u", i);
        info[i].value.type = PMIX_UINT32;
        info[i].value.data.uint32 = i * 3;
    }
    CHECK_STATUS(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_LOCAL, info, INFOS, NULL, NULL),
                 PMIX_SUCCESS);
    WAIT_FOR(atomic_load(&called) == 1, "the event of many infos");
    CHECK_STATUS(publish_bytes(64u << 20), PMIX_ERR_OUT_OF_RESOURCE);
    memset(&endless, 0, sizeof(endless));
    memset(endless.key, 'k', sizeof(endless.key));
    endless.value.type = PMIX_BOOL;
    CHECK_STATUS(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_LOCAL, &endless, 1, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_PROC_LOCAL, &endless, 1, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    pmix_status_t code = CODE;

    CHECK(PMIx_Register_event_handler(&code, 1, &endless, 1, on_infos, NULL, NULL) ==
              PMIX_ERR_BAD_PARAM,
          "a directive without an end");
    /* What large events go through is there. */
    files_use_up();
    CHECK_STATUS(publish_bytes(1u << 20), PMIX_SUCCESS);
    CHECK(fault_files_raise(1024), "the limit stays");
    CHECK_STATUS(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_LOCAL, info, INFOS, NULL, NULL),
                 PMIX_SUCCESS);
    WAIT_FOR(atomic_load(&called) == 2, "the event of many infos, once more");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    free(info);
    return 0;
}

/* ---- a server without descriptors ------------------------------------------------------------ */

enum { LARGE = 3, LARGE_BYTES = 20000 };

/* Among @arg events some, in the middle, that fit into no frame. */
static int role_publisher(const char *arg)
{
    const uint64_t count = strtoull(arg, NULL, 10), some = count / 4;

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    events_publish_many(READER, 1, some, 0);
    events_publish_many(READER, some + 1, LARGE, LARGE_BYTES);
    events_publish_many(READER, some + LARGE + 1, count - some - LARGE, 0);
    atomic_store(&fault_shared->state[READER], DONE);
    WAIT_FOR(atomic_load(&fault_shared->go) == 1, "the host's word to go on");
    events_publish_many(READER, count + 1, 1, 0);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static int role_stopped(const char *arg)
{
    const uint64_t count = strtoull(arg, NULL, 10);

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    events_read(STOPPED, 0);
    atomic_store(&fault_shared->state[STOPPED], READY);
    WAIT_FOR(atomic_load(&fault_shared->event_last[STOPPED]) == count + 1, "the last event");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* A reader that asks for what it has missed while the server has no descriptors: it gets all that a
 * frame can carry, is told that it has lost the rest, and stays. */
static int case_server_few_files(void)
{
    const uint64_t count = 20000;
    char arg[32];
    pid_t pids[2];
    int status;

    snprintf(arg, sizeof(arg), "%llu", (unsigned long long)count);
    fault_log_begin();
    fault_server_start();
    fault_job_start("few.job", 3);
    pids[1] = fault_start("few.job", STOPPED, "stopped", arg);
    WAIT_FOR(atomic_load(&fault_shared->state[STOPPED]) == READY, "the reader");
    CHECK(kill(pids[1], SIGSTOP) == 0 && waitpid(pids[1], &status, WUNTRACED) == pids[1],
          "it does not stop");
    pids[0] = fault_start("few.job", READER, "publisher", arg);
    WAIT_FOR(atomic_load(&fault_shared->state[READER]) == DONE, "the publisher");
    files_use_up();
    CHECK(kill(pids[1], SIGCONT) == 0, "kill");
    WAIT_FOR(atomic_load(&fault_shared->event_count[STOPPED]) +
                     atomic_load(&fault_shared->event_lost[STOPPED]) ==
                 count,
             "the reader");
    CHECK(fault_files_raise(1024), "the limit stays");
    CHECK(atomic_load(&fault_shared->event_lost[STOPPED]) == LARGE, "not those that need one");
    fault_say("%llu of %llu were lost for want of descriptors",
              (unsigned long long)atomic_load(&fault_shared->event_lost[STOPPED]),
              (unsigned long long)count);
    atomic_store(&fault_shared->go, 1);
    fault_wait_ok(pids[0], "the publisher");
    fault_wait_ok(pids[1], "the reader");
    fault_job_end("few.job");
    fault_server_stop();
    return 0;
}

/* ---- cases ---------------------------------------------------------------------------------- */

static int alone(void)
{
    const char *const role = fault_case->name;

    fault_log_begin();
    fault_server_start();
    fault_job_start("many.job", 1);
    fault_good_start();
    fault_wait_ok(fault_start("many.job", 0, role, ""), role);
    fault_good_wait(1);
    fault_good_stop();
    fault_job_end("many.job");
    fault_server_stop();
    return 0;
}

static const struct fault_case cases[] = {
    { "handlers", alone },
    { "names", alone },
    { "infos", alone },
    { "server_few_files", case_server_few_files },
};

static const struct fault_role roles[] = {
    { "handlers", role_handlers },   { "names", role_names },     { "infos", role_infos },
    { "publisher", role_publisher }, { "stopped", role_stopped },
};

FAULT_MAIN(cases, roles)
