/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_garbled_test.c - a client that cannot read what its server sent: its handlers hear of
 * PMIX_ERR_COMM_FAILURE, once, and nobody else hears of anything (EV58). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/event/event.h"
#include "client/link/link.h"
#include "client/link/wait.h"
#include "fault.h"
#include "ring/record.h"

enum { VICTIM, WITNESS, SIZE };
#define WITNESS_CODE (PMIX_EXTERNAL_ERR_BASE - 11)
#define GARBLED_AT_ONCE 1000

/* ---- what is sent ---------------------------------------------------------------------------- */

struct garbage {
    const char *name;
    void (*send)(int fd); /* @fd: the server's end */
    bool ends_link;
};

static void send_frame(int fd, uint16_t kind, uint32_t size)
{
    static _Alignas(8) char bytes[SX_FRAME_MAX];
    const struct sx_frame_header header = { .kind = kind, .id = 1, .body_size = size };

    memcpy(bytes, &header, sizeof(header));
    CHECK(send(fd, bytes, sizeof(header) + size, 0) > 0, "no frame");
}

static void send_short(int fd)
{
    CHECK(send(fd, "abc", 3, 0) == 3, "no frame");
}

static void send_headless_reply(int fd)
{
    send_frame(fd, SX_MSG_REPLY, 0);
}

static void send_hello(int fd)
{
    send_frame(fd, SX_MSG_HELLO, 64);
}

static void send_welcome(int fd)
{
    send_frame(fd, SX_MSG_WELCOME, sizeof(struct sx_welcome));
}

static void take_record(int fd)
{
    sx_event_record_locked(sx_primary(), "abc", 3);
}

static void take_event(int fd)
{
    const struct sx_event event = { .number = 1, .code = PMIX_ERR_COMM_FAILURE, .source_len = 600 };

    sx_event_record_locked(sx_primary(), &event, sizeof(event));
}

static void take_kept(int fd)
{
    const struct {
        struct sx_event_list list;
        uint64_t length;
    } body = { .list = { .count = 1 }, .length = 4096 };

    struct sx_list items = SX_LIST_INIT(items);

    (void)sx_event_kept_locked(sx_primary(), &body, sizeof(body), &items);
    sx_event_items_free(&items);
}

static void take_much(int fd)
{
    for (int i = 0; i < GARBLED_AT_ONCE; i++) {
        take_record(fd);
    }
}

static const struct garbage rows[] = {
    { "a message that is no frame", send_short, true },
    { "an answer without a status", send_headless_reply, true },
    { "what only clients send", send_hello, true },
    { "a second welcome", send_welcome, false },
    { "a record that is no event", take_record, false },
    { "an event that contradicts itself", take_event, false },
    { "kept events that contradict themselves", take_kept, false },
    { "a thousand of them at once", take_much, false },
};

/* ---- roles ----------------------------------------------------------------------------------- */

static void on_failure(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                       size_t ninfo, pmix_info_t results[], size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    CHECK(PMIx_Check_procid(source, &sx_primary()->server), "its source is %s.%u", source->nspace,
          source->rank);
    if (code == PMIX_ERR_COMM_FAILURE) {
        atomic_fetch_add(&fault_shared->event_count[VICTIM], 1);
    } else {
        atomic_fetch_add(&fault_shared->event_ended[VICTIM], 1);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    atomic_store(&fault_shared->status[VICTIM], status);
    atomic_store((_Atomic uint32_t *)cbdata, 1);
}

/* The victim's socket leads to us from here on; the server keeps its end. */
static int socket_take(int *ret_kept)
{
    int pair[2];

    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) == 0, "no sockets");
    *ret_kept = dup(sx_primary()->socket_fd);
    CHECK(*ret_kept >= 0 && dup2(pair[0], sx_primary()->socket_fd) >= 0, "no descriptor");
    close(pair[0]);
    return pair[1];
}

static int role_victim(const char *arg)
{
    struct sx_process *const p = &sx_process;
    const struct garbage *const row = &rows[atoi(arg)];
    pmix_status_t codes[2] = { PMIX_ERR_COMM_FAILURE, PMIX_ERR_LOST_CONNECTION_TO_SERVER };
    pmix_status_t never = WITNESS_CODE - 1;
    pmix_proc_t peer = { .rank = WITNESS };
    static _Atomic uint32_t answered;
    int kept;

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(codes, 2, NULL, 0, on_failure, NULL, NULL) >= 0,
          "no handler");
    memcpy(peer.nspace, p->self.nspace, sizeof(peer.nspace));
    /* An answer has to be awaited for the socket to be looked at. */
    CHECK_STATUS(PMIx_Get_nb(&peer, "not.put.yet", NULL, 0, on_value, (void *)(uintptr_t)&answered),
                 PMIX_SUCCESS);
    const int server_end = socket_take(&kept);

    pthread_mutex_lock(&p->lock);
    row->send(server_end);
    p->first.bell_seen--;
    sx_local_ring_locked();
    pthread_mutex_unlock(&p->lock);
    WAIT_FOR(atomic_load(&fault_shared->event_count[VICTIM]) != 0, row->name);
    if (row->ends_link) {
        WAIT_FOR(atomic_load(&fault_shared->event_ended[VICTIM]) != 0, "the end of the link");
        WAIT_FOR(atomic_load(&answered) != 0, "the end of the request");
        CHECK_STATUS(atomic_load(&fault_shared->status[VICTIM]), PMIX_ERR_LOST_CONNECTION);
    } else {
        CHECK(dup2(kept, p->first.socket_fd) >= 0, "no descriptor");
        const pmix_status_t id = PMIx_Register_event_handler(&never, 1, NULL, 0, on_failure, NULL,
                                                             NULL);

        CHECK(id >= 0, "the link does not work any more: %d", id);
    }
    (void)PMIx_Finalize(NULL, 0); /* what was queued has been handed out */
    CHECK(atomic_load(&fault_shared->event_count[VICTIM]) == 1, "%llu failures",
          (unsigned long long)atomic_load(&fault_shared->event_count[VICTIM]));
    CHECK(atomic_load(&fault_shared->event_ended[VICTIM]) == row->ends_link, "%u ends",
          atomic_load(&fault_shared->event_ended[VICTIM]));
    return 0;
}

static void on_anything(size_t id, pmix_status_t code, const pmix_proc_t *source,
                        pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                        pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    if (code == WITNESS_CODE) {
        atomic_store(&fault_shared->event_ended[WITNESS], 1);
    } else {
        atomic_fetch_add(&fault_shared->event_count[WITNESS], 1);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static int role_witness(const char *arg)
{
    pmix_status_t codes[2] = { PMIX_ERR_COMM_FAILURE, PMIX_ERR_LOST_CONNECTION_TO_SERVER };

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(codes, 2, NULL, 0, on_anything, NULL, NULL) >= 0, "none");
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_anything, NULL, NULL) >= 0, "none");
    atomic_store(&fault_shared->state[WITNESS], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) != 0, "the victim");
    CHECK_STATUS(PMIx_Notify_event(WITNESS_CODE, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    WAIT_FOR(atomic_load(&fault_shared->event_ended[WITNESS]) != 0, "its own event, the last one");
    CHECK(atomic_load(&fault_shared->event_count[WITNESS]) == 0, "the peer has heard of it");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* ---- the case -------------------------------------------------------------------------------- */

static _Atomic unsigned host_received;

static pmix_status_t host_notify(pmix_status_t code, const pmix_proc_t *source,
                                 pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                                 pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    atomic_fetch_add(&host_received, 1);
    return PMIX_OPERATION_SUCCEEDED;
}

static int case_link(void)
{
    fault_log_begin();
    fault_module.notify_event = host_notify;
    fault_server_start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char nspace[32], number[8];

        snprintf(nspace, sizeof(nspace), "garbled.%zu", i);
        snprintf(number, sizeof(number), "%zu", i);
        atomic_store(&fault_shared->go, 0);
        for (int who = 0; who < SIZE; who++) {
            atomic_store(&fault_shared->state[who], 0);
            atomic_store(&fault_shared->event_count[who], 0);
            atomic_store(&fault_shared->event_ended[who], 0);
        }
        fault_job_start(nspace, SIZE);
        const pid_t witness = fault_start(nspace, WITNESS, "witness", "");

        WAIT_FOR(atomic_load(&fault_shared->state[WITNESS]) != 0, "the witness");
        const pid_t victim = fault_start(nspace, VICTIM, "victim", number);

        fault_wait_ok(victim, rows[i].name);
        CHECK(fault_log_lines(victim, "cannot read what its server sent") > 0, "%s: no line",
              rows[i].name);
        atomic_store(&fault_shared->go, 1);
        fault_wait_ok(witness, "the witness");
        fault_job_end(nspace);
        fault_say("ok   %s", rows[i].name);
    }
    fault_server_stop();
    CHECK(atomic_load(&host_received) == 0, "the host has heard of it");
    return 0;
}

static const struct fault_case cases[] = { { "link", case_link } };

static const struct fault_role roles[] = {
    { "victim", role_victim },
    { "witness", role_witness },
};

FAULT_MAIN(cases, roles)
