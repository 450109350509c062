/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobs.c - servers and their clients, from their memory and /proc: who is stopped, who waits for
 * whom, what is full, and which library each process has.
 *
 *     boards --> clients: how they are, their libraries --> open operations --> lanes --> rings
 *
 * Nothing in this memory is trusted.  Bounded by the descriptors of the processes that the kernel
 * lets the caller read, and by the slots of the boards. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "cli/doctor/doctor.h"
#include "cli/target.h"
#include "control/message.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "ring/lane.h"
#include "ring/open_ops.h"
#include "ring/ring.h"

#define LATE_NS (10 * SX_NS_PER_SEC) /* an operation that is open for longer */
#define EVENTS_HELD_MIN 1000u
#define LIBRARIES_MAX 8u

struct look {
    struct sx_doctor *doctor;
    unsigned clients; /* processes of jobs, of all servers */
    pid_t server;     /* the current one, and its board's slots */
    struct sx_board board;
    /* the files of this library that clients of the current server have, each once */
    struct {
        char *file;
        pid_t pid;
    } libraries[LIBRARIES_MAX];
    unsigned library_count, foreign;
};

/* ---- libraries ------------------------------------------------------------------------------- */

static void library_look(struct look *look, pid_t pid)
{
    char *const file = sx_proc_library(pid);
    const char *const path = file != NULL ? strchr(file, '/') : NULL;
    unsigned i = 0;

    if (path == NULL) {
        free(file); /* it is built in, or may not be seen */
        return;
    }
    if (strstr(path, " (deleted)") != NULL) {
        sx_doctor_find(look->doctor, SX_DOCTOR_LIBRARY_DELETED, "process %d has %s", (int)pid,
                       path);
    }
    while (i < look->library_count && strcmp(look->libraries[i].file, file) != 0) {
        i++;
    }
    if (i == look->library_count && i < LIBRARIES_MAX) {
        look->libraries[i].file = file;
        look->libraries[i].pid = pid;
        look->library_count++;
    } else {
        free(file);
    }
}

static void libraries_end(struct look *look)
{
    if (look->library_count > 1) {
        sx_doctor_find(look->doctor, SX_DOCTOR_LIBRARY_MIXED,
                       "clients of server %d: process %d has %s, process %d has %s",
                       (int)look->server, (int)look->libraries[0].pid,
                       strchr(look->libraries[0].file, '/'), (int)look->libraries[1].pid,
                       strchr(look->libraries[1].file, '/'));
    }
    if (look->foreign > 0) {
        sx_doctor_find(look->doctor, SX_DOCTOR_LIBRARY_FOREIGN,
                       "server %d has %u rank%s with another PMIx library", (int)look->server,
                       look->foreign, look->foreign == 1 ? "" : "s");
    }
    while (look->library_count > 0) {
        free(look->libraries[--look->library_count].file);
    }
    look->foreign = 0;
}

/* ---- clients --------------------------------------------------------------------------------- */

static void client_look(struct look *look, const struct sx_board_client *client)
{
    const pid_t pid = (pid_t)client->pid;
    const char *const how = sx_proc_state_name(pid);

    if (client->role == SX_PEER_CLIENT) {
        look->clients++;
        look->foreign += client->library != 0;
    }
    if (how != NULL && strcmp(how, "ended") != 0) {
        sx_doctor_find(look->doctor, SX_DOCTOR_RANK_STOPPED,
                       "rank %" PRIu32 ", process %d of "
                       "server %d, is %s",
                       client->rank, (int)pid, (int)look->server, how);
    }
    if (client->library == 0) {
        library_look(look, pid);
    }
}

static bool has_client(const struct look *look, pid_t pid)
{
    struct sx_board_client client;

    for (uint32_t i = 0; i < look->board.slot_count; i++) {
        if (sx_board_slot_client(&look->board, i, &client) && (pid_t)client.pid == pid) {
            return true;
        }
    }
    return false;
}

/* A child of the server's process, which may be a rank that has not called PMIx_Init. */
static void child_look(void *arg, pid_t pid)
{
    struct look *const look = arg;
    const char *const wanted = look->doctor->nspace;
    const char *const how = sx_proc_state_name(pid);
    char nspace[SX_SEGMENT_NSPACE_BYTES];
    uint32_t rank;

    if (how != NULL && strcmp(how, "ended") != 0 && !has_client(look, pid) &&
        sx_proc_rank(pid, nspace, &rank) &&
        (wanted == NULL || strncmp(nspace, wanted, sizeof(nspace)) == 0)) {
        sx_doctor_find(look->doctor, SX_DOCTOR_RANK_STOPPED,
                       "rank %" PRIu32 ", process %d of server %d, is %s, and has not called "
                       "PMIx_Init",
                       rank, (int)pid, (int)look->server, how);
    }
}

/* ---- open operations ------------------------------------------------------------------------- */

static void missing_look(struct look *look, const struct sx_open_op *op, const char *name)
{
    const struct sx_open_missing *const missing = &op->missing[0];
    const char *const nspace = op->text + missing->nspace_off;
    const bool connected = missing->presence == SX_OPEN_CONNECTED && missing->pid <= INT32_MAX;
    const char *const how = connected ? sx_proc_state_name((pid_t)missing->pid)
                            : missing->presence == SX_OPEN_LEFT ? "has called PMIx_Finalize"
                                                                : NULL;
    const uint64_t now_ns = sx_now_ns();

    look->doctor->job = nspace;
    if (how != NULL) {
        sx_doctor_find(look->doctor, SX_DOCTOR_MEMBER_MISSING,
                       "%s of server %d: %" PRIu32 " of %" PRIu32 " have arrived; %.255s.%" PRIu32
                       " (process %" PRIu32 ") %s%s",
                       name, (int)look->server, op->arrived, op->expected, nspace, missing->rank,
                       missing->pid, connected ? "is " : "", how);
    } else if (now_ns > op->since_ns && now_ns - op->since_ns > LATE_NS) {
        sx_doctor_find(look->doctor, SX_DOCTOR_MEMBER_LATE,
                       "%s of server %d, open for %" PRIu64 " s: %" PRIu32 " of %" PRIu32
                       " have arrived; %.255s.%" PRIu32 " has not%s",
                       name, (int)look->server, (now_ns - op->since_ns) / SX_NS_PER_SEC,
                       op->arrived, op->expected, nspace, missing->rank,
                       connected ? "" : ", nor called PMIx_Init");
    }
    look->doctor->job = NULL;
}

static bool is_of_job(const struct look *look, const struct sx_open_op *op)
{
    const char *const nspace = look->doctor->nspace;

    for (size_t i = 0; nspace != NULL && i < op->procs_listed; i++) {
        if (strcmp(op->text + op->procs[i].nspace_off, nspace) == 0) {
            return true;
        }
    }
    return nspace == NULL;
}

static void op_look(struct look *look, const struct sx_open_op *op)
{
    const char *const known = sx_collective_name(op->kind);
    const char *const name = known != NULL ? known : "an operation";
    const uint64_t now_ns = sx_now_ns();

    if (!is_of_job(look, op) || (op->flags & SX_OPEN_NOTIFIED) != 0) {
        return;
    }
    if (op->missing_listed > 0) {
        missing_look(look, op, name);
    } else if ((op->flags & SX_OPEN_WITH_HOST) != 0 && now_ns > op->since_ns &&
               now_ns - op->since_ns > LATE_NS) {
        sx_doctor_find(look->doctor, SX_DOCTOR_HOST_LATE,
                       "%s of server %d, open for %" PRIu64 " s: all %" PRIu32 " here have arrived",
                       name, (int)look->server, (now_ns - op->since_ns) / SX_NS_PER_SEC,
                       op->expected);
    }
}

static bool ops_take(void *arg, pid_t pid, int fd)
{
    struct look *const look = arg;
    struct sx_open_ops table;
    struct sx_open_op op;

    if (sx_open_ops_attach(&table, fd) != PMIX_SUCCESS) {
        return true;
    }
    for (uint32_t i = 0; sx_proc_has_made(pid, &table.seg) && i < table.row_count; i++) {
        if (sx_open_ops_read(&table, i, &op) == PMIX_SUCCESS) {
            op_look(look, &op);
        }
    }
    const bool is_its_own = sx_proc_has_made(pid, &table.seg);

    sx_open_ops_deinit(&table);
    return !is_its_own; /* a server has one */
}

/* ---- lanes and rings ------------------------------------------------------------------------- */

/* A lane is read, not mapped: its client may change it at any time. */
static bool lane_take(void *arg, pid_t pid, int fd)
{
    struct look *const look = arg;
    struct sx_lane_geometry geometry;
    uint64_t tail;

    (void)pid;
    if (pread(fd, &geometry, sizeof(geometry), SX_LANE_GEOMETRY_OFF) != (ssize_t)sizeof(geometry) ||
        geometry.slot >= look->board.slot_count ||
        pread(fd, &tail, sizeof(tail), SX_LANE_LINE_OFF(geometry.slot)) != (ssize_t)sizeof(tail)) {
        return true;
    }
    const struct sx_board_slot *const slot = &look->board.slots[geometry.slot];
    struct sx_board_client client;
    /* relaxed: a figure that is only shown. */
    const uint64_t head = atomic_load_explicit(&slot->lane_head, memory_order_relaxed);

    if (tail - head <= SX_LANE_BYTES && tail - head > SX_LANE_BYTES - SX_LANE_MESSAGE_MAX &&
        sx_board_slot_client(&look->board, geometry.slot, &client)) {
        sx_doctor_find(look->doctor, SX_DOCTOR_LANE_FULL,
                       "server %d has %" PRIu64 " of %u bytes to read from rank %" PRIu32
                       ", process %" PRIu32,
                       (int)look->server, tail - head, SX_LANE_BYTES, client.rank, client.pid);
    }
    return true;
}

static bool ring_take(void *arg, pid_t pid, int fd)
{
    struct look *const look = arg;
    const char *const wanted = look->doctor->nspace;
    struct sx_ring ring;

    if (sx_ring_attach(&ring, fd) != PMIX_SUCCESS) {
        return true;
    }
    const char *const nspace = sx_segment_header(&ring.seg)->nspace;
    /* relaxed: as above. */
    const uint64_t held = atomic_load_explicit(&ring.header->events_held, memory_order_relaxed);

    if (sx_proc_has_made(pid, &ring.seg) && held >= EVENTS_HELD_MIN &&
        (wanted == NULL || strncmp(nspace, wanted, SX_SEGMENT_NSPACE_BYTES) == 0)) {
        sx_doctor_find(look->doctor, SX_DOCTOR_EVENTS_HELD,
                       "%" PRIu64
                       " events of job %.255s are kept until all its ranks here have had "
                       "them",
                       held, nspace);
    }
    sx_ring_deinit(&ring);
    return true;
}

/* ---- servers --------------------------------------------------------------------------------- */

static void events_look(struct look *look)
{
    /* relaxed: as above. */
    const uint64_t lost = atomic_load_explicit(&look->board.header->history_crowded_out,
                                               memory_order_relaxed);

    if (lost > 0) {
        sx_doctor_find(look->doctor, SX_DOCTOR_EVENTS_LOST,
                       "server %d has dropped %" PRIu64 " kept events for want of bytes",
                       (int)look->server, lost);
    }
}

static bool board_take(void *arg, pid_t pid, struct sx_board *board)
{
    struct look *const look = arg;
    const char *const how = sx_proc_state_name(pid);
    struct sx_board_client client;

    look->server = pid;
    look->board = *board;
    if (how != NULL) {
        sx_doctor_find(look->doctor, SX_DOCTOR_SERVER_STOPPED, "server %d is %s", (int)pid, how);
    }
    library_look(look, pid);
    for (uint32_t i = 0; i < board->slot_count; i++) {
        if (sx_board_slot_client(board, i, &client)) {
            client_look(look, &client);
        }
    }
    sx_proc_children_each(pid, child_look, look);
    libraries_end(look);
    events_look(look);
    (void)sx_cli_outside_each(pid, "ops:", ops_take, look);
    (void)sx_cli_outside_each(pid, "lane:", lane_take, look);
    (void)sx_cli_outside_each(pid, "ring:", ring_take, look);
    return true;
}

static void layouts_look(struct sx_doctor *doctor)
{
    struct sx_outside_left left = { .count = 0 };

    (void)sx_outside_each(doctor->server, "board:", sx_cli_outside_nothing, NULL, &left);
    for (unsigned i = 0; i < left.count; i++) {
        if (left.at[i].layout != 0) {
            sx_doctor_find(doctor, SX_DOCTOR_LAYOUT,
                           "server %d has segments of layout %" PRIu32
                           "; this command has %" PRIu32,
                           (int)left.at[i].pid, left.at[i].layout,
                           sx_segment_layout(SX_SEGMENT_MAGIC));
        }
    }
}

void sx_doctor_jobs(struct sx_doctor *doctor)
{
    struct look look = { .doctor = doctor };
    const unsigned cpus = sx_doctor_cpus();

    layouts_look(doctor);
    (void)sx_cli_boards_each(doctor->server, board_take, &look);
    if (look.clients > cpus) {
        sx_doctor_find(doctor, SX_DOCTOR_OVERSUBSCRIBED, "%u ranks are connected, on %u CPUs",
                       look.clients, cpus);
    }
}
