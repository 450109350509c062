/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* users_test.c - each request, lane message and tool's way in, of four users.
 *
 * The victim is a rank of user USER.  Ranks and tools of the same user, of another one, of another
 * one that is in a group with the victim, and of root ask about it in every way there is.  The table
 * of requests has a row for each kind of message that a client may send: a kind without one fails
 * every case, before any of them is skipped.  Programs that use the library read nothing of another
 * user's job either once they have no list with it any more. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "attack.h"
#include "base/message/signature.h"
#include "base/util.h"
#include "server/model/state.h"

#define USER 54321
#define OTHER 54322
#define VICTIM_JOB "victim.job"
#define LATER_JOB "later.job" /* of USER, registered when all have asked for its output */
#define GONE_JOB "gone.job"   /* of USER, deregistered by then */
#define CODE (-3100)

enum who { SAME, OTHERS, JOINED, ROOT, WHOS };

static const struct {
    const char *job;
    uid_t uid;
} whos[WHOS] = {
    [SAME] = { "same.job", USER },
    [OTHERS] = { "others.job", OTHER },
    [JOINED] = { "joined.job", OTHER },
    [ROOT] = { "root.job", 0 },
};

static const pmix_proc_t victim = { VICTIM_JOB, 0 };
static const pmix_proc_t victims = { VICTIM_JOB, PMIX_RANK_WILDCARD };

/* ---- asking ---------------------------------------------------------------------------------- */

/* The answer's status; a descriptor that it brings goes to @ret_fd, or is closed (NULL). */
static pmix_status_t answer(struct attacker *asker, uint32_t id, int *ret_fd)
{
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    struct sx_frame frame;

    CHECK_STATUS(sx_frame_receive(asker->socket_fd, buffer, &frame, UINT64_MAX), PMIX_SUCCESS);
    CHECK(frame.header.kind == SX_MSG_REPLY && frame.header.id == id, "kind %u id %u",
          frame.header.kind, frame.header.id);
    const pmix_status_t status = ((const struct sx_reply *)frame.body)->status;

    if (ret_fd != NULL && frame.fd_count == 1) {
        *ret_fd = frame.fds[0];
        frame.fds[0] = -1;
    }
    sx_frame_release(&frame);
    return status;
}

/* A body of @kind.  Return: malloc'ed. */
static void *body_of(const struct sx_signature *signature, struct sx_draft *draft, size_t *ret_size)
{
    draft->signature = signature;
    draft->nspace = "";
    CHECK_STATUS(sx_body_measure(draft, ret_size), PMIX_SUCCESS);
    void *const body = calloc(1, *ret_size + 1);

    CHECK(body != NULL, "no memory");
    CHECK_STATUS(sx_body_write(draft, body), PMIX_SUCCESS);
    return body;
}

static pmix_status_t ask_for(struct attacker *asker, uint16_t kind, struct sx_draft *draft,
                             int *ret_fd)
{
    static uint32_t id = 100;
    size_t size;
    void *const body = body_of(sx_message_spec(kind)->body, draft, &size);

    attack_request(asker->socket_fd, kind, ++id, body, size);
    free(body);
    return answer(asker, id, ret_fd);
}

static pmix_status_t ask(struct attacker *asker, uint16_t kind, struct sx_draft draft)
{
    return ask_for(asker, kind, &draft, NULL);
}

static pmix_info_t info_of(const char *key, const void *value, pmix_data_type_t type)
{
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, key, value, type), PMIX_SUCCESS);
    return info;
}

/* ---- one way each ----------------------------------------------------------------------------- */

static pmix_status_t hello(struct attacker *asker)
{
    struct sx_hello hello = { .protocol = SX_PROTOCOL_VERSION, .rank = 1 };
    struct attacker second;

    snprintf(hello.nspace, sizeof(hello.nspace), VICTIM_JOB);
    const pmix_status_t status = attack_attach_hello(&second, &hello);

    if (status == PMIX_SUCCESS) {
        attack_request(second.socket_fd, SX_MSG_FINALIZE, 2, NULL, 0);
        CHECK_STATUS(answer(&second, 2, NULL), PMIX_SUCCESS);
    }
    attack_detach(&second);
    return status;
}

static pmix_status_t segment_get(struct attacker *asker)
{
    const struct sx_segment_get head = { .wanted = SX_WANT_STORE, .nspace = VICTIM_JOB };

    return ask(asker, SX_MSG_SEGMENT_GET, (struct sx_draft){ .head = &head });
}

static pmix_status_t get(struct attacker *asker)
{
    const struct sx_get head = { .nspace = VICTIM_JOB, .flags = SX_GET_IMMEDIATE };
    struct sx_draft draft = { .head = &head };

    draft.parts[SX_GET_KEY] = (struct sx_part_source){ "victim.value", sizeof("victim.value") };
    return ask(asker, SX_MSG_GET, draft);
}

static pmix_status_t abort_it(struct attacker *asker)
{
    const struct sx_abort head = { .status = 1 };
    struct sx_draft draft = { .head = &head };

    draft.parts[SX_ABORT_PROCS] = (struct sx_part_source){ &victim, 1 };
    return ask(asker, SX_MSG_ABORT, draft);
}

static pmix_status_t job_control(struct attacker *asker)
{
    const struct sx_job_control head = { 0 };
    const int signal_none = 0;
    const pmix_info_t info = info_of(PMIX_JOB_CTRL_SIGNAL, &signal_none, PMIX_INT);
    struct sx_draft draft = { .head = &head };

    draft.parts[SX_CONTROL_PROCS] = (struct sx_part_source){ &victims, 1 };
    draft.parts[SX_CONTROL_INFOS] = (struct sx_part_source){ &info, 1 };
    return ask(asker, SX_MSG_JOB_CONTROL, draft);
}

static pmix_status_t published(struct attacker *asker, uint16_t kind)
{
    const struct sx_publish_keys head = { 0 };
    pmix_info_t info = { .flags = 0 };
    struct sx_draft draft = { .head = &head };

    PMIx_Load_key(info.key, "victim.key");
    draft.parts[SX_LOOKUP_KEYS] = (struct sx_part_source){ &info, 1 };
    return ask(asker, kind, draft);
}

static pmix_status_t lookup(struct attacker *asker)
{
    return published(asker, SX_MSG_LOOKUP);
}

static pmix_status_t unpublish(struct attacker *asker)
{
    return published(asker, SX_MSG_UNPUBLISH);
}

static pmix_status_t pull_of(struct attacker *asker, const pmix_proc_t procs[], size_t count,
                             int *ret_fd)
{
    const struct sx_iof_pull head = { .channels = PMIX_FWD_STDOUT_CHANNEL };
    struct sx_draft draft = { .head = &head };

    draft.parts[SX_PULL_PROCS] = (struct sx_part_source){ procs, count };
    return ask_for(asker, SX_MSG_IOF_PULL, &draft, ret_fd);
}

static pmix_status_t pull(struct attacker *asker)
{
    return pull_of(asker, &victims, 1, NULL);
}

static pmix_status_t push(struct attacker *asker)
{
    const struct sx_iof_push head = { 0 };
    char text[] = "input";
    const pmix_byte_object_t bytes = { .bytes = text, .size = sizeof(text) };
    pmix_info_t info = info_of(SX_PUSH_BYTES, &bytes, PMIX_BYTE_OBJECT);
    struct sx_draft draft = { .head = &head };

    draft.parts[SX_PUSH_PROCS] = (struct sx_part_source){ &victim, 1 };
    draft.parts[SX_PUSH_INFOS] = (struct sx_part_source){ &info, 1 };
    const pmix_status_t rc = ask(asker, SX_MSG_IOF_PUSH, draft);
    PMIx_Info_destruct(&info);
    return rc;
}

static pmix_status_t leave(struct attacker *asker)
{
    const struct sx_group_leave head = { .group = "victims" };

    return ask(asker, SX_MSG_GROUP_LEAVE, (struct sx_draft){ .head = &head });
}

static pmix_status_t join(struct attacker *asker)
{
    const struct sx_group_join head = { .accepts = 1,
                                        .group = "victims",
                                        .leader_nspace = VICTIM_JOB };

    return ask(asker, SX_MSG_GROUP_JOIN, (struct sx_draft){ .head = &head });
}

static void event_draft(struct sx_draft *draft, struct sx_event *event, pmix_status_t code)
{
    *event = (struct sx_event){ .code = code, .range = PMIX_RANGE_CUSTOM };
    *draft = (struct sx_draft){ .head = event };
    draft->parts[SX_EVENT_TARGETS] = (struct sx_part_source){ &victim, 1 };
}

static pmix_status_t event(struct attacker *asker)
{
    struct sx_event event;
    struct sx_draft draft;

    event_draft(&draft, &event, CODE);
    return ask(asker, SX_MSG_EVENT_BULK, draft);
}

static pmix_status_t event_of_host(struct attacker *asker)
{
    struct sx_event event;
    struct sx_draft draft;

    event_draft(&draft, &event, PMIX_ERR_JOB_ABORTED);
    return ask(asker, SX_MSG_EVENT_BULK, draft);
}

static pmix_status_t query(struct attacker *asker)
{
    const struct sx_query_head head = { 0 };
    char key[] = PMIX_QUERY_PROC_TABLE, *keys[] = { key, NULL };
    pmix_info_t qualifier = info_of(PMIX_NSPACE, VICTIM_JOB, PMIX_STRING);
    pmix_query_t query = { .keys = keys, .qualifiers = &qualifier, .nqual = 1 };
    pmix_data_array_t array = { .type = PMIX_QUERY, .size = 1, .array = &query };
    pmix_info_t info = { .value = { .type = PMIX_DATA_ARRAY, .data.darray = &array } };
    struct sx_draft draft = { .head = &head };

    PMIx_Load_key(info.key, "queries");
    draft.parts[SX_QUERY_INFOS] = (struct sx_part_source){ &info, 1 };
    const pmix_status_t rc = ask(asker, SX_MSG_QUERY, draft);
    PMIx_Info_destruct(&qualifier);
    return rc;
}

/* A lane has no answers: what is refused there is counted. */
static pmix_status_t notify(struct attacker *asker)
{
    const struct sx_board_slot *const slot = &asker->board.slots[asker->slot];
    const uint64_t lost = atomic_load(&slot->events_lost);
    struct sx_event event;
    struct sx_draft draft;
    size_t size;

    event_draft(&draft, &event, CODE);
    void *const body = body_of(&sx_event_body, &draft, &size);
    const struct iovec iov = { body, size };

    CHECK_STATUS(sx_lane_append(&asker->lane, SX_LANE_NOTIFY, &iov, 1), PMIX_SUCCESS);
    free(body);
    /* A frame is taken when the lane before it has been. */
    CHECK_STATUS(ask(asker, SX_MSG_RESULTS_GET, (struct sx_draft){ .head = NULL }), PMIX_SUCCESS);
    return atomic_load(&slot->events_lost) == lost ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS;
}

/* How operation @op of @asker has ended.  Return: PMIX_SUCCESS also while it goes on. */
static pmix_status_t ended(struct attacker *asker, uint32_t op)
{
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    pmix_status_t status = PMIX_SUCCESS;
    struct sx_frame frame;

    attack_request(asker->socket_fd, SX_MSG_RESULTS_GET, 7, NULL, 0);
    CHECK_STATUS(sx_frame_receive(asker->socket_fd, buffer, &frame, UINT64_MAX), PMIX_SUCCESS);
    CHECK(frame.header.kind == SX_MSG_REPLY && frame.header.id == 7, "id %u", frame.header.id);
    const struct {
        struct sx_reply reply;
        uint32_t count, reserved;
        struct sx_result ends[];
    } *const body = frame.body;

    for (uint32_t i = 0; i < body->count; i++) {
        status = body->ends[i].op == op ? body->ends[i].status : status;
    }
    sx_frame_release(&frame);
    return status;
}

/* A fence of the victim's job, of which the asker is no member. */
static void arrival_draft(struct sx_draft *draft, struct sx_lane_arrive *head, uint32_t op)
{
    *head = (struct sx_lane_arrive){ .kind = SX_COLLECTIVE_FENCE, .open = 1, .op = op };
    *draft = (struct sx_draft){ .head = head };
    draft->parts[SX_ARRIVE_PROCS] = (struct sx_part_source){ &victims, 1 };
}

static pmix_status_t arrive(struct attacker *asker)
{
    struct sx_lane_arrive head;
    struct sx_draft draft;

    arrival_draft(&draft, &head, 71);
    CHECK_STATUS(ask(asker, SX_MSG_ARRIVE_BULK, draft), PMIX_SUCCESS);
    return ended(asker, 71);
}

static pmix_status_t arrive_in_lane(struct attacker *asker)
{
    struct sx_lane_arrive head;
    struct sx_draft draft;
    size_t size;

    arrival_draft(&draft, &head, 72);
    void *const body = body_of(&sx_arrive_body, &draft, &size);
    const struct iovec iov = { body, size };

    CHECK_STATUS(sx_lane_append(&asker->lane, SX_LANE_ARRIVE, &iov, 1), PMIX_SUCCESS);
    free(body);
    return ended(asker, 72);
}

/* ---- the table --------------------------------------------------------------------------------- */

/* Who may, as a rank; a tool of the same user or of root may as well, unless it says otherwise. */
struct row {
    const char *name;
    const char *own; /* why it concerns nobody but the asker; NULL: it is asked */
    pmix_status_t (*ask)(struct attacker *asker);
    bool may[WHOS];
    bool tool_of_root; /* it may although a rank of root's may not */
};

#define NOBODY_ELSE "it names nobody"
#define HOST_JUDGES "the host is given the user, and judges"
#define CONSENT "it asks, and nothing comes of it unless they join"
#define MAY(same, others, joined, root) \
    .may = { [SAME] = (same), [OTHERS] = (others), [JOINED] = (joined), [ROOT] = (root) }

static const struct row requests[SX_MSG_SPEC_MAX] = {
    [SX_MSG_HELLO] = { "HELLO", .ask = hello, MAY(1, 0, 0, 0) },
    [SX_MSG_SEGMENT_GET] = { "SEGMENT_GET", .ask = segment_get, MAY(1, 0, 1, 0) },
    [SX_MSG_GET] = { "GET", .ask = get, MAY(1, 0, 1, 0) },
    [SX_MSG_GET_CANCEL] = { "GET_CANCEL", .own = NOBODY_ELSE },
    [SX_MSG_PUT_BULK] = { "PUT_BULK", .own = NOBODY_ELSE },
    [SX_MSG_ARRIVE_BULK] = { "ARRIVE_BULK", .ask = arrive, MAY(0, 0, 0, 0) },
    [SX_MSG_ABORT] = { "ABORT", .ask = abort_it, MAY(1, 0, 0, 1) },
    [SX_MSG_FINALIZE] = { "FINALIZE", .own = NOBODY_ELSE },
    [SX_MSG_JOB_CONTROL] = { "JOB_CONTROL", .ask = job_control, MAY(1, 0, 0, 1) },
    [SX_MSG_LOG] = { "LOG", .own = HOST_JUDGES },
    [SX_MSG_MONITOR] = { "MONITOR", .own = NOBODY_ELSE },
    [SX_MSG_ASK_HOST] = { "ASK_HOST", .own = HOST_JUDGES },
    [SX_MSG_PUBLISH] = { "PUBLISH", .own = NOBODY_ELSE },
    [SX_MSG_LOOKUP] = { "LOOKUP", .ask = lookup, MAY(1, 0, 0, 0) },
    [SX_MSG_UNPUBLISH] = { "UNPUBLISH", .ask = unpublish, MAY(0, 0, 0, 0) },
    [SX_MSG_SPAWN] = { "SPAWN", .own = HOST_JUDGES },
    [SX_MSG_IOF_PULL] = { "IOF_PULL", .ask = pull, MAY(1, 0, 1, 1) },
    [SX_MSG_IOF_PUSH] = { "IOF_PUSH", .ask = push, MAY(1, 0, 1, 1) },
    [SX_MSG_GROUP_LEAVE] = { "GROUP_LEAVE", .ask = leave, MAY(0, 0, 0, 0) },
    [SX_MSG_GROUP_SAID] = { "GROUP_SAID", .own = "it answers what the asker was asked" },
    [SX_MSG_GROUP_INVITE] = { "GROUP_INVITE", .own = CONSENT },
    [SX_MSG_GROUP_JOIN] = { "GROUP_JOIN", .ask = join, MAY(0, 0, 0, 0) },
    [SX_MSG_RESULTS_GET] = { "RESULTS_GET", .own = NOBODY_ELSE },
    [SX_MSG_EVENT_BULK] = { "EVENT_BULK", .ask = event, MAY(1, 0, 1, 1) },
    [SX_MSG_EVENT_REGISTER] = { "EVENT_REGISTER", .own = NOBODY_ELSE },
    [SX_MSG_EVENT_DEREGISTER] = { "EVENT_DEREGISTER", .own = NOBODY_ELSE },
    [SX_MSG_EVENT_REPLAY] = { "EVENT_REPLAY", .own = NOBODY_ELSE },
    [SX_MSG_QUERY] = { "QUERY", .ask = query, MAY(1, 0, 1, 1) },
    [SX_MSG_WAKE_GET] = { "WAKE_GET", .own = NOBODY_ELSE },
    [SX_MSG_WINDOW_GET] = { "WINDOW_GET", .own = NOBODY_ELSE },
};

static const struct row lanes[SX_LANE_SPEC_MAX] = {
    [SX_LANE_PUT] = { "a put", .own = NOBODY_ELSE },
    [SX_LANE_COMMIT_END] = { "the end of a commit", .own = NOBODY_ELSE },
    [SX_LANE_ARRIVE] = { "an arrival", .ask = arrive_in_lane, MAY(0, 0, 0, 0) },
    [SX_LANE_CURSOR] = { "a cursor", .own = NOBODY_ELSE },
    [SX_LANE_NOTIFY] = { "an event in a lane", .ask = notify, MAY(1, 0, 1, 1) },
};

static const struct row others[] = {
    { "an event of the host's", .ask = event_of_host, MAY(0, 0, 0, 0), .tool_of_root = true },
};

/* Every kind of message has its row. */
static void tables_check(void)
{
    for (uint16_t kind = 0; kind < SX_MSG_SPEC_MAX; kind++) {
        const struct sx_message_spec *const spec = sx_message_spec(kind);

        CHECK((requests[kind].name != NULL) == (spec != NULL && spec->from_client),
              "message %u (%s): give it a row here that says which users may", kind,
              spec != NULL ? spec->name : "none");
    }
    for (uint32_t kind = 0; kind < SX_LANE_SPEC_MAX; kind++) {
        CHECK((lanes[kind].name != NULL) == (sx_lane_spec(kind) != NULL),
              "lane message %u: give it a row here that says which users may", kind);
    }
}

static void rows_ask(struct attacker *asker, const struct row *rows, size_t count, enum who who,
                     bool is_tool)
{
    for (size_t i = 0; i < count; i++) {
        const struct row *const row = &rows[i];
        const bool may = row->name != NULL &&
                         (row->may[who] || (is_tool && who == ROOT && row->tool_of_root));

        if (row->ask != NULL) {
            const pmix_status_t status = row->ask(asker);

            CHECK((status == PMIX_SUCCESS) == may, "%s of %s%s: %d (%s)", row->name, whos[who].job,
                  is_tool ? " as a tool" : "", status, PMIx_Error_string(status));
        }
    }
}

static void all_ask(struct attacker *asker, enum who who, bool is_tool)
{
    rows_ask(asker, requests, SX_COUNT(requests), who, is_tool);
    rows_ask(asker, lanes, SX_COUNT(lanes), who, is_tool);
    rows_ask(asker, others, SX_COUNT(others), who, is_tool);
}

/* ---- roles ------------------------------------------------------------------------------------- */

static int role_victim(const char *arg)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 7 };
    pmix_info_t info = info_of("victim.key", "victim", PMIX_STRING);

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "victim.value", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Publish(&info, 1), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    atomic_store(&fault_shared->state[WHOS], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) != 0, "the others");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static void end(struct attacker *asker)
{
    attack_request(asker->socket_fd, SX_MSG_FINALIZE, 9, NULL, 0);
    CHECK_STATUS(answer(asker, 9, NULL), PMIX_SUCCESS);
    attack_detach(asker);
}

static enum who who_of(const char *arg)
{
    const enum who who = (enum who)atoi(arg);

    CHECK(geteuid() == whos[who].uid, "uid %u", (unsigned)geteuid());
    return who;
}

static void attach(struct attacker *asker, enum who who)
{
    struct sx_hello hello = { .protocol = SX_PROTOCOL_VERSION };

    snprintf(hello.nspace, sizeof(hello.nspace), "%s", whos[who].job);
    CHECK_STATUS(attack_attach_hello(asker, &hello), PMIX_SUCCESS);
}

static int role_rank(const char *arg)
{
    const enum who who = who_of(arg);
    struct attacker asker;

    attach(&asker, who);
    all_ask(&asker, who, false);
    end(&asker);
    return 0;
}

static struct sx_hello tool_hello(enum sx_peer_role role, const char *home)
{
    struct sx_hello hello = { .protocol = SX_PROTOCOL_VERSION, .role = role };

    snprintf(hello.home, sizeof(hello.home), "%s", home);
    return hello;
}

/* A command reads what its home has; a server that takes foreign tools lets them in without one. */
static int role_tool(const char *arg)
{
    const enum who who = who_of(arg);
    const bool foreign = strcmp(fault_shared->text, "foreign") == 0;
    const struct {
        struct sx_hello hello;
        bool may;
    } ways[] = {
        { tool_hello(SX_PEER_COMMAND, VICTIM_JOB), who == ROOT },
        { tool_hello(SX_PEER_COMMAND, ""), who == ROOT },
        { tool_hello(SX_PEER_TOOL, ""), who == ROOT || foreign },
    };

    for (size_t i = 0; i < SX_COUNT(ways); i++) {
        struct attacker asker;
        const pmix_status_t status = attack_attach_hello(&asker, &ways[i].hello);

        CHECK((status == PMIX_SUCCESS) == ways[i].may, "way %zu of user %u: %d (%s)", i,
              (unsigned)whos[who].uid, status, PMIx_Error_string(status));
        if (status == PMIX_SUCCESS && ways[i].hello.role == SX_PEER_TOOL) {
            all_ask(&asker, who, true);
        }
        if (status == PMIX_SUCCESS) {
            end(&asker);
        } else {
            attack_detach(&asker);
        }
    }
    return 0;
}

/* Which lines arrive until the one of its own job: "g" of the gone one, "l" of the later one. */
static int role_puller(const char *arg)
{
    static const char *const want[WHOS] = { [SAME] = "glo", [OTHERS] = "o", [ROOT] = "lo" };
    const enum who who = who_of(arg);
    pmix_proc_t procs[] = { { GONE_JOB, PMIX_RANK_WILDCARD },
                            { LATER_JOB, PMIX_RANK_WILDCARD },
                            { "", PMIX_RANK_WILDCARD } };
    char lines[8] = "", piece[SX_FRAME_MAX];
    struct attacker asker;
    int fd = -1;

    PMIx_Load_nspace(procs[2].nspace, whos[who].job);
    attach(&asker, who);
    CHECK_STATUS(pull_of(&asker, procs, 3, &fd), PMIX_SUCCESS);
    CHECK(fd >= 0, "no descriptor");
    atomic_store(&fault_shared->state[who], 1);
    while (strlen(lines) < sizeof(lines) - 1 && strchr(lines, 'o') == NULL) {
        const ssize_t size = recv(fd, piece, sizeof(piece), 0);

        CHECK(size > (ssize_t)sizeof(struct sx_iof_piece), "%zd bytes: %s", size, strerror(errno));
        lines[strlen(lines)] = piece[sizeof(struct sx_iof_piece)];
    }
    CHECK(strcmp(lines, want[who]) == 0, "%s has got \"%s\"", whos[who].job, lines);
    close(fd);
    end(&asker);
    return 0;
}

/* ---- the library behind the last list ----------------------------------------------------------- */

enum { READER_READ, GOER_GONE, LATE_PUT }; /* states */

static void put(const char *text)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text };

    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "victim.value", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
}

static void in_both(pmix_proc_t ret[2])
{
    ret[0] = victim;
    PMIx_Load_procid(&ret[1], whos[OTHERS].job, 0);
}

/* The one member of the victim's job: it goes first. */
static int role_goer(const char *arg)
{
    pmix_proc_t both[2];

    in_both(both);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    put("old");
    CHECK_STATUS(PMIx_Connect(both, 2, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Group_construct("left", both, 2, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    WAIT_FOR(atomic_load(&fault_shared->state[READER_READ]) != 0, "the reader");
    CHECK_STATUS(PMIx_Group_leave("left", NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* Never a member: it has something new. */
static int role_late(const char *arg)
{
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    WAIT_FOR(atomic_load(&fault_shared->state[GOER_GONE]) != 0, "the member's end");
    put("new");
    atomic_store(&fault_shared->state[LATE_PUT], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) != 0, "the reader");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static void expect_get(pmix_rank_t rank, const char *key, pmix_status_t want)
{
    const pmix_info_t optional = info_of(PMIX_OPTIONAL, NULL, PMIX_BOOL);
    const pmix_proc_t proc = { VICTIM_JOB, rank };

    for (int is_optional = 1; is_optional >= 0; is_optional--) {
        pmix_value_t *value = NULL;
        const pmix_status_t rc = PMIx_Get(&proc, key, &optional, is_optional != 0, &value);

        CHECK(rc == want, "%s of rank %u: %s", key, rank, PMIx_Error_string(rc));
        if (rc == PMIX_SUCCESS) {
            PMIx_Value_free(value, 1);
        }
    }
}

static void expect_nothing(void)
{
    pmix_proc_t *procs = NULL;
    size_t count = 0;

    for (pmix_rank_t rank = 0; rank < 2; rank++) {
        expect_get(rank, "victim.value", PMIX_ERR_NOT_FOUND);
        expect_get(rank, PMIX_LOCAL_RANK, PMIX_ERR_NOT_FOUND);
    }
    expect_get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Resolve_peers(NULL, VICTIM_JOB, &procs, &count), PMIX_ERR_NOT_FOUND);
}

static int role_reader(const char *arg)
{
    pmix_proc_t both[2];

    in_both(both);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Connect(both, 2, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Group_construct("left", both, 2, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    expect_get(0, "victim.value", PMIX_SUCCESS);
    expect_get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_SUCCESS);
    atomic_store(&fault_shared->state[READER_READ], 1);
    WAIT_FOR(atomic_load(&fault_shared->state[LATE_PUT]) != 0, "the new value");
    CHECK_STATUS(PMIx_Disconnect(both, 2, NULL, 0), PMIX_SUCCESS);
    expect_nothing();
    CHECK_STATUS(PMIx_Group_leave("left", NULL, 0), PMIX_SUCCESS);
    expect_nothing();
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* ---- lists of processes ------------------------------------------------------------------------ */

static unsigned sets_notified; /* of events of sets that others than the host have made */

static void on_set(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t *results, size_t nresults,
                   pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    for (size_t i = 0; i < ninfo; i++) {
        sets_notified += PMIx_Check_key(info[i].key, PMIX_PSET_NAME) &&
                         strcmp(info[i].value.data.string, "hosts") != 0;
    }
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t query_one(const char *key, const char *qualifier, const char *value,
                               pmix_info_t **ret_info, size_t *ret_count)
{
    pmix_query_t query;

    PMIx_Query_construct(&query);
    PMIx_Argv_append_nosize(&query.keys, key);
    if (qualifier != NULL) {
        PMIx_Query_qualifiers_create(&query, 1);
        query.qualifiers[0] = info_of(qualifier, value, PMIX_STRING);
    }
    const pmix_status_t rc = PMIx_Query_info(&query, 1, ret_info, ret_count);

    PMIx_Query_destruct(&query);
    return rc;
}

/* The process that the set has; "" when it is not there. */
static void expect_member(const char *set, const char *want)
{
    pmix_info_t *info = NULL;
    size_t count = 0;
    const pmix_status_t rc = query_one(PMIX_QUERY_PSET_MEMBERSHIP, PMIX_PSET_NAME, set, &info,
                                       &count);

    CHECK((rc == PMIX_SUCCESS) == (*want != '\0'), "%s: %s", set, PMIx_Error_string(rc));
    if (rc == PMIX_SUCCESS) {
        const pmix_data_array_t *const array = info[0].value.data.darray;

        CHECK(array->size == 1 && strcmp(((pmix_proc_t *)array->array)->nspace, want) == 0,
              "%s has %zu, the first is of %s", set, array->size,
              ((pmix_proc_t *)array->array)->nspace);
        PMIx_Info_free(info, count);
    }
}

static void expect_names(const char *want)
{
    pmix_info_t *info = NULL;
    size_t count = 0;

    CHECK_STATUS(query_one(PMIX_QUERY_PSET_NAMES, NULL, NULL, &info, &count), PMIX_SUCCESS);
    CHECK(strcmp(info[0].value.data.string, want) == 0, "\"%s\", not \"%s\"",
          info[0].value.data.string, want);
    PMIx_Info_free(info, count);
}

/* Defines the set "mine", and, when all have, sees what is its own and the host's alone. */
static int role_setter(const char *arg)
{
    const enum who who = (enum who)atoi(arg);
    pmix_status_t codes[] = { PMIX_PROCESS_SET_DEFINE };
    pmix_info_t info = info_of(PMIX_JOB_CTRL_DEFINE_PSET, "mine", PMIX_STRING);
    pmix_info_t *results = NULL;
    size_t count = 0;
    pmix_proc_t self;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    PMIx_Register_event_handler(codes, 1, NULL, 0, on_set, NULL, NULL);
    CHECK_STATUS(PMIx_Job_control(&self, 1, &info, 1, &results, &count), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    atomic_store(&fault_shared->state[who], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) != 0, "the others");
    expect_member("mine", whos[who].job);
    expect_member("hosts", VICTIM_JOB);
    expect_names("hosts,mine");
    CHECK(sets_notified <= 1, "told of %u sets", sets_notified);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static int role_overseer(const char *arg)
{
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    expect_names("hosts,mine,mine@54322");
    expect_member("mine", whos[SAME].job);
    expect_member("mine@54322", whos[OTHERS].job);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* ---- the host ---------------------------------------------------------------------------------- */

static pmix_status_t host_abort(const pmix_proc_t *proc, void *object, int status, const char msg[],
                                pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t cbfunc,
                                void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t host_control(const pmix_proc_t *requestor, const pmix_proc_t targets[],
                                  size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                                  pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t host_pull(const pmix_proc_t procs[], size_t nprocs,
                               const pmix_info_t directives[], size_t ndirs,
                               pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t host_push(const pmix_proc_t *source, const pmix_proc_t targets[],
                               size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                               const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static void host_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                      void *cbdata)
{
    cbfunc(PMIX_SUCCESS, NULL, cbdata);
}

static void group_add(struct sx_server *server, const char *name, const pmix_proc_t procs[],
                      size_t count)
{
    const struct sx_membership_options options = {
        .name = name, .kind = SX_MEMBERSHIP_GROUP, .procs = procs, .proc_count = count
    };
    struct sx_membership_entry *entry;

    CHECK_STATUS(sx_memberships_add(server, &options, &entry), PMIX_SUCCESS);
}

/* The victim's own group, and one with the rank that has joined it. */
static pmix_status_t groups_make(struct sx_server *server, void *arg)
{
    pmix_proc_t both[] = { victim, victim };

    PMIx_Load_procid(&both[1], whos[JOINED].job, 0);
    group_add(server, "victims", both, 1);
    group_add(server, "both", both, 2);
    return PMIX_SUCCESS;
}

/* Return: 0; FAULT_SKIP. */
static int begin(void)
{
    tables_check();
    if (geteuid() != 0) {
        return fault_skip("only root can become other users");
    }
    CHECK(setenv("SHMIX_RENDEZVOUS", "abstract", 1) == 0, "%s", strerror(errno));
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_module.abort = host_abort;
    fault_module.job_control = host_control;
    fault_module.iof_pull = host_pull;
    fault_module.push_stdin = host_push;
    return 0;
}

static void jobs_start(void)
{
    fault_job_start_for(USER, VICTIM_JOB, 2);
    for (int who = 0; who < WHOS; who++) {
        fault_job_start_for(whos[who].uid, whos[who].job, 1);
    }
}

/* One after the other, beside the victim. */
static void all_start(const char *role, bool tools)
{
    jobs_start();
    CHECK_STATUS(sx_server_call(sx_server_get(), groups_make, NULL), PMIX_SUCCESS);
    const pid_t pid = fault_start_as(USER, VICTIM_JOB, 0, "victim", "");

    WAIT_FOR(atomic_load(&fault_shared->state[WHOS]) != 0, "the victim");
    for (int who = 0; who < WHOS; who++) {
        char arg[8];

        snprintf(arg, sizeof(arg), "%d", who);
        if (!tools || who != JOINED) { /* tools have joined nobody */
            fault_wait_ok(fault_start_as(whos[who].uid, whos[who].job, 0, role, arg),
                          whos[who].job);
        }
    }
    atomic_store(&fault_shared->go, 1);
    fault_wait_ok(pid, "the victim");
    fault_server_stop();
}

static int case_ranks(void)
{
    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    fault_server_start();
    all_start("rank", false);
    return 0;
}

static int case_tools(void)
{
    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    fault_module.tool_connected = host_tool;
    fault_server_start();
    all_start("tool", true);
    return 0;
}

static int case_foreign_tools(void)
{
    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    fault_module.tool_connected = host_tool;
    const pmix_info_t infos[] = { info_of(PMIX_SERVER_TOOL_SUPPORT, NULL, PMIX_BOOL),
                                  info_of(PMIX_SERVER_ALLOW_FOREIGN_TOOLS, NULL, PMIX_BOOL) };

    CHECK_STATUS(PMIx_server_init(&fault_module, (pmix_info_t *)(uintptr_t)infos, 2), PMIX_SUCCESS);
    snprintf(fault_shared->text, sizeof(fault_shared->text), "foreign");
    all_start("tool", true);
    return 0;
}

static void deliver(const char *job, char line)
{
    const pmix_byte_object_t bytes = { .bytes = &line, .size = 1 };
    const pmix_proc_t source = { .rank = 0 };
    pmix_proc_t named = source;

    PMIx_Load_nspace(named.nspace, job);
    CHECK_STATUS(PMIx_server_IOF_deliver(&named, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, NULL,
                                         NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

/* A pull is judged at its beginning and again at each line; what was kept of a job that has gone is
 * its user's. */
static int case_output(void)
{
    static const enum who order[] = { OTHERS, SAME, ROOT };
    pid_t pids[WHOS];

    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    fault_server_start();
    jobs_start();
    fault_job_start_for(USER, GONE_JOB, 1);
    deliver(GONE_JOB, 'g');
    fault_job_end(GONE_JOB);
    for (size_t i = 0; i < SX_COUNT(order); i++) {
        char arg[8];

        snprintf(arg, sizeof(arg), "%d", order[i]);
        pids[i] = fault_start_as(whos[order[i]].uid, whos[order[i]].job, 0, "puller", arg);
        WAIT_FOR(atomic_load(&fault_shared->state[order[i]]) != 0, "a pull");
    }
    fault_job_start_for(USER, LATER_JOB, 1);
    deliver(LATER_JOB, 'l');
    for (size_t i = 0; i < SX_COUNT(order); i++) {
        deliver(whos[order[i]].job, 'o');
        fault_wait_ok(pids[i], whos[order[i]].job);
    }
    fault_server_stop();
    return 0;
}

/* What lists have shown of another user's job goes with this process's own end in them, also where
 * the other members have gone before. */
static int case_parted(void)
{
    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    fault_server_start();
    jobs_start();
    const pid_t goer = fault_start_as(USER, VICTIM_JOB, 0, "goer", "");
    const pid_t late = fault_start_as(USER, VICTIM_JOB, 1, "late", "");
    const pid_t reader = fault_start_as(OTHER, whos[OTHERS].job, 0, "reader", "");

    fault_wait_ok(goer, "the member");
    atomic_store(&fault_shared->state[GOER_GONE], 1);
    fault_wait_ok(reader, "the reader");
    atomic_store(&fault_shared->go, 1);
    fault_wait_ok(late, "the late rank");
    fault_server_stop();
    return 0;
}

/* Two users call a set by one name: each has its own, and is told of no other. */
static int case_sets(void)
{
    static const enum who setters[] = { SAME, OTHERS };
    pid_t pids[SX_COUNT(setters)];

    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    fault_server_start();
    jobs_start();
    CHECK_STATUS(PMIx_server_define_process_set(&victim, 1, "hosts"), PMIX_SUCCESS);
    for (size_t i = 0; i < SX_COUNT(setters); i++) {
        const enum who who = setters[i];
        char arg[8];

        snprintf(arg, sizeof(arg), "%d", who);
        pids[i] = fault_start_as(whos[who].uid, whos[who].job, 0, "setter", arg);
        WAIT_FOR(atomic_load(&fault_shared->state[who]) != 0, "a set");
    }
    fault_wait_ok(fault_start_as(0, whos[ROOT].job, 0, "overseer", ""), "root");
    atomic_store(&fault_shared->go, 1);
    for (size_t i = 0; i < SX_COUNT(setters); i++) {
        fault_wait_ok(pids[i], whos[setters[i]].job);
    }
    fault_server_stop();
    return 0;
}

int main(int argc, char **argv)
{
    static const struct fault_case cases[] = {
        { "ranks", case_ranks },
        { "tools", case_tools },
        { "foreign_tools", case_foreign_tools },
        { "output", case_output },
        { "parted", case_parted },
        { "sets", case_sets },
    };
    static const struct fault_role roles[] = {
        { "victim", role_victim }, { "rank", role_rank },     { "tool", role_tool },
        { "puller", role_puller }, { "goer", role_goer },     { "late", role_late },
        { "reader", role_reader }, { "setter", role_setter }, { "overseer", role_overseer },
    };

    return fault_main(argc, argv, cases, SX_COUNT(cases), roles, SX_COUNT(roles));
}
