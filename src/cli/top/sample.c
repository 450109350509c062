/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sample.c - one look at all servers that the caller may inspect.
 *
 *     boards --> servers, and their clients' slots --> lanes --> stores: jobs, ranks --> rings -->
 *     open operations --> /proc for each process --> rates, by what the sample before had
 *
 * Nothing in this memory is trusted.  Bounded by the descriptors of the processes that the kernel
 * lets the caller read, the slots of the boards, the sizes of the jobs and SX_LS_RANKS_MAX. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/target.h"
#include "cli/top/top.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "ring/lane.h"
#include "ring/ring.h"

const char *const sx_top_segment_names[SX_TOP_SEGMENTS] = { "stores", "rings", "boards", "lanes",
                                                            "operations" };

/* A client of the current server: by slot, and once the lanes are read, by process. */
struct client {
    uint32_t pid, slot;
    uint64_t head, tail;
};

struct take {
    struct sx_top_sample *sample;
    const char *nspace;
    struct client *clients;
    size_t client_count;
    struct sx_ls_started started;
    char host[256];
    uint32_t ranks_left; /* to look at, in all jobs */
};

#define APPEND(array, count)                                              \
    ({                                                                    \
        (array) = sx_cli_realloc((array), (count) + 1, sizeof(*(array))); \
        &(array)[(count)++];                                              \
    })

static struct sx_top_server *server_of(struct take *take)
{
    return &take->sample->servers[take->sample->server_count - 1];
}

/* ---- processes ------------------------------------------------------------------------------- */

static void process_fill(struct sx_top_process *process, pid_t pid)
{
    const char *const state = sx_proc_state_name(pid);
    struct sx_proc_stat stat;

    *process = (struct sx_top_process){ .pid = pid, .state = state != NULL ? state : "runs" };
    if (pid != 0 && sx_proc_stat(pid, &stat) && stat.state != 'Z') {
        process->cpu_ns = stat.cpu_ns;
        process->rss_bytes = stat.rss_bytes;
    } else {
        process->state = "ended";
    }
    (void)sx_proc_user(pid, &process->uid);
}

/* ---- clients and lanes ----------------------------------------------------------------------- */

static int client_order(const void *left, const void *right)
{
    const struct client *const a = left, *const b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

/* The order in which they are read. */
static int slot_order(const void *left, const void *right)
{
    const struct client *const a = left, *const b = right;

    return (a->slot > b->slot) - (a->slot < b->slot);
}

static void clients_read(struct take *take, const struct sx_board *board)
{
    struct sx_board_client shown;

    take->client_count = 0;
    for (uint32_t i = 0; i < board->slot_count; i++) {
        if (sx_board_slot_client(board, i, &shown)) {
            struct client *const client = APPEND(take->clients, take->client_count);

            /* relaxed: figures that are only shown. */
            *client = (struct client){ .pid = shown.pid,
                                       .slot = i,
                                       .head = atomic_load_explicit(&board->slots[i].lane_head,
                                                                    memory_order_relaxed) };
            client->tail = client->head;
        }
    }
}

/* A lane is read, not mapped: its client may change it at any time. */
static bool lane_take(void *arg, pid_t pid, int fd)
{
    struct take *const take = arg;
    struct sx_lane_geometry geometry;
    uint64_t tail, used;

    (void)pid;
    if (pread(fd, &used, sizeof(used), offsetof(struct sx_segment_header, used_bytes)) ==
        (ssize_t)sizeof(used)) {
        server_of(take)->used_bytes[SX_TOP_LANES] += used;
    }
    if (pread(fd, &geometry, sizeof(geometry), SX_LANE_GEOMETRY_OFF) != (ssize_t)sizeof(geometry) ||
        pread(fd, &tail, sizeof(tail), SX_LANE_LINE_OFF(geometry.slot)) != (ssize_t)sizeof(tail)) {
        return true;
    }
    const struct client wanted = { .slot = geometry.slot };
    struct client *const client = take->client_count == 0
                                      ? NULL
                                      : bsearch(&wanted, take->clients, take->client_count,
                                                sizeof(wanted), slot_order);

    if (client != NULL && tail - client->head <= SX_LANE_BYTES) {
        client->tail = tail;
    }
    return true;
}

static const struct client *client_find(const struct take *take, pid_t pid)
{
    const struct client wanted = { .pid = (uint32_t)pid };

    return take->client_count == 0 || pid == 0
               ? NULL
               : bsearch(&wanted, take->clients, take->client_count, sizeof(wanted), client_order);
}

/* ---- jobs and ranks -------------------------------------------------------------------------- */

static void rank_take(struct take *take, size_t job, const struct sx_site *site, uint32_t rank)
{
    struct sx_top_job *const of = &take->sample->jobs[job];
    const char *const host = sx_site_text(site, SX_REALM_JOB, rank, PMIX_HOSTNAME);

    if (host != NULL && strcmp(host, take->host) != 0) {
        return; /* its process id means nothing here */
    }
    const pid_t pid = sx_ls_process_of(&take->started, of->server, of->name, site, rank);
    const struct client *const client = client_find(take, pid);

    if (pid == 0) {
        return;
    }
    struct sx_top_rank *const row = APPEND(take->sample->ranks, take->sample->rank_count);

    *row = (struct sx_top_rank){ .server = of->server, .job = job, .rank = rank };
    process_fill(&row->process, pid);
    if (client != NULL) {
        row->connected = true;
        row->lane_bytes = client->tail;
        row->lane_used = client->tail - client->head;
    }
    of->running += strcmp(row->process.state, "runs") == 0;
    of->stopped += strcmp(row->process.state, "stopped") == 0;
    of->rss_bytes += row->process.rss_bytes;
}

static void store_take(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct take *const take = arg;
    const struct sx_site site = { .shared = store, .self = PMIX_RANK_INVALID };
    /* relaxed: a figure that is only shown. */
    const uint64_t used = atomic_load_explicit(&sx_segment_header(&store->seg)->used_bytes,
                                               memory_order_relaxed);

    server_of(take)->used_bytes[SX_TOP_STORES] += used;
    if (!sx_cli_store_is_of_job(store)) {
        return;
    }
    server_of(take)->jobs++;
    if (take->nspace != NULL && strcmp(nspace, take->nspace) != 0) {
        return;
    }
    const size_t index = take->sample->job_count;
    struct sx_top_job *const job = APPEND(take->sample->jobs, take->sample->job_count);

    *job = (struct sx_top_job){ .server = server, .stored_bytes = used };
    snprintf(job->name, sizeof(job->name), "%s", nspace);
    job->size = sx_site_count(&site, PMIX_JOB_SIZE);
    (void)sx_ls_job_user(&site, server, &job->uid);
    uint32_t ranks = sx_ls_ranks(&site);

    ranks = ranks < take->ranks_left ? ranks : take->ranks_left;
    take->ranks_left -= ranks;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        rank_take(take, index, &site, rank);
    }
}

static void ring_count(struct sx_top_job *job, const struct sx_ring *ring)
{
    /* relaxed: figures that are only shown. */
    job->events_held = atomic_load_explicit(&ring->header->events_held, memory_order_relaxed);
    job->collectives = atomic_load_explicit(&ring->header->class_count[SX_CLASS_COLLECTIVE],
                                            memory_order_relaxed);
    job->events = 0;
    for (unsigned i = 1; i < SX_RING_CLASS_MAX; i++) {
        job->events += atomic_load_explicit(&ring->header->class_count[i], memory_order_relaxed);
    }
}

static bool ring_take(void *arg, pid_t pid, int fd)
{
    struct take *const take = arg;
    struct sx_ring ring;

    if (sx_ring_attach(&ring, fd) != PMIX_SUCCESS) {
        return true;
    }
    const char *const nspace = sx_segment_header(&ring.seg)->nspace;
    /* relaxed: as above. */
    server_of(take)->used_bytes[SX_TOP_RINGS] +=
        atomic_load_explicit(&sx_segment_header(&ring.seg)->used_bytes, memory_order_relaxed);
    for (size_t i = 0; sx_proc_has_made(pid, &ring.seg) && i < take->sample->job_count; i++) {
        struct sx_top_job *const job = &take->sample->jobs[i];

        if (job->server == pid && strncmp(job->name, nspace, sizeof(job->name)) == 0) {
            ring_count(job, &ring);
        }
    }
    sx_ring_deinit(&ring);
    return true;
}

/* ---- open operations ------------------------------------------------------------------------- */

static bool is_wanted(const struct take *take, const struct sx_open_op *op)
{
    bool found = take->nspace == NULL;

    for (size_t i = 0; !found && i < op->procs_listed; i++) {
        found = strcmp(op->text + op->procs[i].nspace_off, take->nspace) == 0;
    }
    return found;
}

static bool ops_take(void *arg, pid_t pid, int fd)
{
    struct take *const take = arg;
    struct sx_open_ops table;
    struct sx_open_op op;

    if (sx_open_ops_attach(&table, fd) != PMIX_SUCCESS) {
        return true;
    }
    /* relaxed: figures that are only shown. */
    server_of(take)->used_bytes[SX_TOP_OPS] +=
        atomic_load_explicit(&sx_segment_header(&table.seg)->used_bytes, memory_order_relaxed);
    take->sample->op_hidden += atomic_load_explicit(&table.header->hidden, memory_order_relaxed);
    for (uint32_t i = 0; sx_proc_has_made(pid, &table.seg) && i < table.row_count; i++) {
        if (sx_open_ops_read(&table, i, &op) == PMIX_SUCCESS && is_wanted(take, &op)) {
            *APPEND(take->sample->ops, take->sample->op_count) = (struct sx_top_op){ pid, op };
        }
    }
    const bool is_its_own = sx_proc_has_made(pid, &table.seg);

    sx_open_ops_deinit(&table);
    return !is_its_own; /* a server has one */
}

static int op_order(const void *left, const void *right)
{
    const struct sx_top_op *const a = left, *const b = right;

    return (a->op.since_ns > b->op.since_ns) - (a->op.since_ns < b->op.since_ns);
}

/* ---- servers --------------------------------------------------------------------------------- */

static bool board_take(void *arg, pid_t pid, struct sx_board *board)
{
    struct take *const take = arg;
    const struct sx_board_header *const header = board->header;
    struct sx_top_server *const server = APPEND(take->sample->servers, take->sample->server_count);

    *server = (struct sx_top_server){ .jobs = 0 };
    process_fill(&server->process, pid);
    snprintf(server->name, sizeof(server->name), "%.*s", SX_SEGMENT_NSPACE_BYTES - 1,
             sx_segment_header(&board->seg)->nspace);
    /* relaxed: figures that are only shown. */
    server->sleeps = atomic_load_explicit(&header->sleep_epoch, memory_order_relaxed) % 2 != 0;
    server->turn_units_max = atomic_load_explicit(&header->turn_units_max, memory_order_relaxed);
    server->events_crowded_out = atomic_load_explicit(&header->history_crowded_out,
                                                      memory_order_relaxed);
    server->used_bytes[SX_TOP_BOARDS] =
        atomic_load_explicit(&sx_segment_header(&board->seg)->used_bytes, memory_order_relaxed);
    clients_read(take, board);
    server->clients = (unsigned)take->client_count;
    (void)sx_cli_outside_each(pid, "lane:", lane_take, take);
    if (take->client_count > 1) {
        qsort(take->clients, take->client_count, sizeof(take->clients[0]), client_order);
    }
    (void)sx_cli_stores_each(pid, store_take, take);
    (void)sx_cli_outside_each(pid, "ring:", ring_take, take);
    (void)sx_cli_outside_each(pid, "ops:", ops_take, take);
    return true;
}

/* ---- rates ----------------------------------------------------------------------------------- */

static double per_s(uint64_t before, uint64_t now, double seconds)
{
    return now > before && seconds > 0 ? (double)(now - before) / seconds : 0;
}

static int pid_order(const void *left, const void *right)
{
    const struct sx_top_rank *const *const a = left, *const *const b = right;

    return ((*a)->process.pid > (*b)->process.pid) - ((*a)->process.pid < (*b)->process.pid);
}

static double cpu_since(const struct sx_top_process *before, const struct sx_top_process *now,
                        double seconds)
{
    return per_s(before->cpu_ns, now->cpu_ns, seconds) / (double)SX_NS_PER_SEC;
}

static void servers_rate(struct sx_top_sample *sample, const struct sx_top_sample *before,
                         double seconds)
{
    for (size_t i = 0; i < sample->server_count; i++) {
        struct sx_top_process *const process = &sample->servers[i].process;

        for (size_t j = 0; j < before->server_count; j++) {
            if (before->servers[j].process.pid == process->pid) {
                process->cpu = cpu_since(&before->servers[j].process, process, seconds);
            }
        }
    }
}

static void ranks_rate(struct sx_top_sample *sample, const struct sx_top_sample *before,
                       double seconds)
{
    const struct sx_top_rank **const all = sx_cli_calloc(before->rank_count + 1, sizeof(all[0]));

    for (size_t i = 0; i < before->rank_count; i++) {
        all[i] = &before->ranks[i];
    }
    qsort(all, before->rank_count, sizeof(all[0]), pid_order);
    for (size_t i = 0; i < sample->rank_count && before->rank_count > 0; i++) {
        struct sx_top_rank *const rank = &sample->ranks[i];
        const struct sx_top_rank *const key = rank;
        const struct sx_top_rank **const old = bsearch(&key, all, before->rank_count,
                                                       sizeof(all[0]), pid_order);

        if (old != NULL) {
            rank->process.cpu = cpu_since(&(*old)->process, &rank->process, seconds);
            rank->lane_per_s = per_s((*old)->lane_bytes, rank->lane_bytes, seconds);
            sample->jobs[rank->job].cpu += rank->process.cpu;
        }
    }
    free(all);
}

static void jobs_rate(struct sx_top_sample *sample, const struct sx_top_sample *before,
                      double seconds)
{
    for (size_t i = 0; i < sample->job_count; i++) {
        struct sx_top_job *const job = &sample->jobs[i];

        for (size_t j = 0; j < before->job_count; j++) {
            const struct sx_top_job *const old = &before->jobs[j];

            if (old->server == job->server && strcmp(old->name, job->name) == 0) {
                job->collectives_per_s = per_s(old->collectives, job->collectives, seconds);
                job->events_per_s = per_s(old->events, job->events, seconds);
            }
        }
    }
}

static void rates_fill(struct sx_top_sample *sample, const struct sx_top_sample *before)
{
    const double seconds = (double)(sample->when_ns - before->when_ns) / (double)SX_NS_PER_SEC;

    servers_rate(sample, before, seconds);
    ranks_rate(sample, before, seconds);
    jobs_rate(sample, before, seconds);
}

/* ---- a sample -------------------------------------------------------------------------------- */

void sx_top_take(pid_t server, const char *nspace, const struct sx_top_sample *before,
                 struct sx_top_sample *ret)
{
    struct take take = { .sample = ret, .nspace = nspace, .ranks_left = SX_LS_RANKS_MAX };

    *ret = (struct sx_top_sample){ .when_ns = sx_now_ns() };
    (void)gethostname(take.host, sizeof(take.host) - 1);
    ret->denied = !sx_cli_boards_each(server, board_take, &take);
    if (ret->op_count > 1) {
        qsort(ret->ops, ret->op_count, sizeof(ret->ops[0]), op_order);
    }
    if (before != NULL) {
        rates_fill(ret, before);
    }
    sx_ls_started_free(&take.started);
    free(take.clients);
}

void sx_top_free(struct sx_top_sample *sample)
{
    free(sample->servers);
    free(sample->jobs);
    free(sample->ranks);
    free(sample->ops);
    *sample = (struct sx_top_sample){ .servers = NULL };
}
