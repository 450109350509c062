/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective.h - the one engine for all collective operations.
 *
 * An operation is identified by its kind and its signature: the sorted list of processes, and the
 * id that its callers may give.  The differences between kinds are in their rows
 * (server/entry/kinds.c), its state in operation.h.
 *
 *     OPEN --last expected local member arrives--> FULL --host answers, or not needed--> released
 *       \------a member goes before it arrives, or is late: its status is everybody's------^
 *
 * The host has one operation per kind and signature at a time; the next one waits, FULL, for its
 * answer.  An operation that ends earlier for its members, for example by their time limit, stays
 * with the host.  The data of the host's answer are then stored.
 *
 * The row of its kind decides what happens when a member leaves.  A fence continues without a
 * member that departs before it arrives.  Where it would end with PMIX_SUCCESS, it then ends with
 * PMIX_ERR_PARTIAL_SUCCESS, as with OpenPMIx.  A connect ends at once, unless its callers pardon
 * that.
 *
 * A connected namespace or group has a gap when a member has ended.  If an operation ends because
 * such a member is missing, it ends so for all others.  Members that call later get the same
 * status, so that their next calls match. */
#ifndef SX_SERVER_COLLECTIVE_COLLECTIVE_H
#define SX_SERVER_COLLECTIVE_COLLECTIVE_H

#include "base/message/payloads.h"
#include "server/collective/operation.h"
#include "server/model/membership.h"
#include "server/model/proc_list.h"
#include "server/model/state.h"

/* ---- the engine ------------------------------------------------------------------------------ */

/* A lane message: the client joins an operation.  Return: PMIX_SUCCESS (even if the operation
 * fails), or PMIX_ERR_BAD_PARAM for bytes that no client of this library writes. */
pmix_status_t sx_collective_arrive(struct sx_server *server, struct sx_client *client,
                                   const struct sx_opened *body);

/* The frame of an arrival that names many processes: it is taken in several of the client's turns,
 * before anything that the client has sent behind it (long_arrival.c).  Return: false when @frame
 * is to be taken at once, by sx_collective_arrive. */
bool sx_collective_arrive_long(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame);

/* Open operations of all clients; those beyond the second number are shared (quota.h). */
#define SX_COLLECTIVES_MAX 65536u
#define SX_COLLECTIVES_BYTES_MAX (UINT64_C(4) << 30) /* of their lists of processes */
#define SX_COLLECTIVES_FREE 4096u

/* The host has registered @client: open operations that name it expect it too. */
void sx_collective_client_added(struct sx_server *server, struct sx_client *client);
/* The host has registered @nspace: operations that waited for this find their members. */
void sx_collective_nspace_registered(struct sx_server *server, struct sx_nspace *nspace);
/* Do all steps of the `nspace_added` of its kind at once.  Return: as that. */
pmix_status_t sx_collective_nspaces_read(struct sx_collective *collective);
/* @client has called PMIx_Init: rows of open operations that wait for it are updated. */
void sx_collective_client_connected(struct sx_server *server, struct sx_client *client);
/* @client is dead, has finalized, or has departed.  The operations that wait for it, and those that
 * it had joined, continue or end as their row requires (server/entry/kinds.c).  An operation in
 * which no member waits any more ends. */
void sx_collective_client_gone(struct sx_server *server, struct sx_client *client);
/* Those that are left of these are looked at before the client's state changes: all of @client; up
 * to @max of the clients of @nspace.  Return: how many; 0: none is left. */
void sx_collective_client_looks(struct sx_server *server, struct sx_client *client);
size_t sx_collective_nspace_looks(struct sx_server *server, const struct sx_nspace *nspace,
                                  size_t max);
void sx_collective_ends_init(struct sx_server *server);
/* @client has left a group, but still runs.  Operations that do not name it any more do not wait
 * for it.  They have @pardons (SX_PARDON_*) from now on. */
void sx_collective_client_withdrew(struct sx_server *server, struct sx_client *client,
                                   uint8_t pardons);
/* Mark the operations that name @list, which may end in the next step.  A fence that ends so keeps
 * its processes, by which the other nodes get its failure.  @died and @pardons are those of
 * sx_collective_member_elsewhere_gone. */
void sx_collective_list_mark(struct sx_server *server, const struct sx_membership_entry *list,
                             bool died, uint8_t pardons);
/* A member of the list on another node has left it, or (@died) ended.  Which operations it had
 * called is not known here.  The marked operations continue without it, or end, as if it had not
 * called.  They have @pardons (SX_PARDON_*) from now on. */
void sx_collective_member_elsewhere_gone(struct sx_server *server, bool died, uint8_t pardons);
/* The namespace ends, and may be registered again.  Operations of it that the host still has block
 * no others, and the host's answers to them are dropped. */
void sx_collective_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
/* The server ends. */
void sx_collective_end_all(struct sx_server *server);

/* ---- the table of open operations ----------------------------------------------------------- */

/* Operations that stay open are shown in a table that other processes read.
 *
 *     opened --SX_OPEN_DELAY_NS--> has a row --changed, and as long again--> written anew
 *        \                            |
 *         \---ended: never shown      \---ended: the row is free
 *
 * So an operation that ends sooner costs two list operations.  A row shows a state that is at most
 * that delay old, also while the server hangs.  The oldest operations have rows; the others are
 * counted. */

/* Make the table; the server must have its name.  Return: PMIX_SUCCESS, or as
 * sx_open_ops_create. */
pmix_status_t sx_shown_init(struct sx_server *server);
/* Safe on a server whose table is SX_OPEN_OPS_NULL, and twice. */
void sx_shown_deinit(struct sx_server *server);

/* An operation is being opened.  @shown is zeroed, and a member of its struct sx_collective. */
void sx_shown_add(struct sx_server *server, struct sx_shown *shown);
/* The operation has ended. */
void sx_shown_remove(struct sx_server *server, struct sx_shown *shown);

/* The slow paths of the next functions. */
void sx_shown_renew(struct sx_server *server, struct sx_shown *shown);
void sx_shown_write(struct sx_server *server, uint64_t now_ns);
void sx_shown_watch(struct sx_server *server);

static inline bool sx_shown_has_row(const struct sx_shown *shown)
{
    return shown->row != 0;
}

/* The missing members of an operation have changed, or whether the host has it. */
static inline void sx_shown_changed(struct sx_server *server, struct sx_shown *shown)
{
    if (sx_shown_has_row(shown)) {
        sx_shown_renew(server, shown);
    }
}

/* Once per turn of the loop: write some of the rows that are due. */
static inline void sx_shown_turn(struct sx_server *server, uint64_t now_ns)
{
    if (!sx_list_empty(&server->collective.shown.due)) {
        sx_shown_write(server, now_ns);
    }
}

/* The loop is about to sleep: until the next row is due, at most. */
static inline void sx_shown_sleep(struct sx_server *server)
{
    if (!sx_list_empty(&server->collective.shown.due) ||
        server->collective.shown.timer.source.loop != NULL) {
        sx_shown_watch(server);
    }
}

/* ---- ranks that a job cannot have ------------------------------------------------------------ */

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND, logged, for a rank that its job cannot have.  Such a
 * process never calls, and some hosts end their job when they are asked for it. */
pmix_status_t sx_ranks_judge(struct sx_server *server, enum sx_collective_kind kind,
                             const pmix_proc_t *procs, size_t count);
/* The same for an arrival, and when a namespace that an operation has waited for has been
 * registered: for rows. */
pmix_status_t sx_ranks_aim(struct sx_server *server, struct sx_client *client,
                           struct sx_arrival *arrival);
pmix_status_t sx_ranks_nspace_added(struct sx_collective *collective);

/* ---- the row of fences ----------------------------------------------------------------------- */

/* The row of fences: the data that they carry between the servers of several nodes. */

bool sx_fence_host_reaches(const struct sx_server *server);
/* Contribute the values of the members here: the news when all nodes take part, else all values. */
pmix_status_t sx_fence_contribute(struct sx_collective *collective, struct sx_blob *blob,
                                  sx_packed_fn packed);
/* Ask the host for the fence with the bytes of the members here, at once or when these are packed:
 * fence_pack.c.  Return: PMIX_SUCCESS when part.answered will be called; PMIX_ERR_OUT_OF_RESOURCE;
 * as sx_upcall. */
pmix_status_t sx_fence_pack(struct sx_collective *collective);
/* The fence has ended while it was packed.  Safe on every operation. */
void sx_fence_pack_drop(struct sx_collective *collective);
pmix_status_t sx_fence_host_ask(struct sx_collective *collective, sx_answered_fn answered);
/* Return: PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS, logged, when the bytes with which the host has
 * answered a fence that collects data have nothing of a node with members;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_fence_nodes_judge(const struct sx_collective *collective,
                                   const struct sx_blob_piece pieces[], size_t piece_count);
bool sx_fence_host_answered(struct sx_collective *collective, const struct sx_host_answer *answer,
                            pmix_status_t *ret_status);

/* ---- connected namespaces -------------------------------------------------------------------- */

/* The rows of connect and disconnect: connected namespaces, and how these change.
 *
 *     all have called connect --> a connected namespace --all have called disconnect--> gone
 *                                   | ^                                                  ^
 *                                   \-/ a member ends: there is a gap   no member here is left
 *
 * A connected namespace is a membership (server/model/membership.h), whose members have the ranks 0
 * and up, ordered by their namespaces and ranks.  A disconnect is identified by that namespace, in
 * whichever way its callers name it. */

void sx_connect_arrived(struct sx_collective *collective, struct sx_client *client,
                        uint8_t connect);
/* Make a name that no other server makes. */
void sx_connect_name(struct sx_server *server, char ret[PMIX_MAX_NSLEN + 1]);
/* Make the namespace: of the members of this node, or with the members on which the servers have
 * agreed.  Return: PMIX_SUCCESS; as sx_memberships_add. */
pmix_status_t sx_connect_conclude(struct sx_collective *collective, uint64_t *ret_subject);

/* Find the namespace that @client means: by its name, or by the processes and the id of its
 * connect.  Of several, it is the oldest that @client has not called for.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND for a namespace that does not exist; PMIX_ERR_INVALID_OPERATION for processes
 * that are not connected, or when @client has called already; PMIX_ERR_NOT_A_MEMBER when @client is
 * not a member. */
pmix_status_t sx_disconnect_aim(struct sx_server *server, struct sx_client *client,
                                struct sx_arrival *arrival);
void sx_disconnect_arrived(struct sx_collective *collective, struct sx_client *client,
                           uint8_t connect);
pmix_status_t sx_disconnect_conclude(struct sx_collective *collective, uint64_t *ret_subject);

/* A fence of several jobs succeeds.  If its members are all those of a connected namespace, they no
 * longer depend on each other.  MPI libraries separate by such a fence (MPI_Comm_disconnect), and
 * stay connected.  Return: PMIX_SUCCESS. */
pmix_status_t sx_connect_fenced(struct sx_collective *collective, uint64_t *ret_subject);

/* @client has finalized or was removed by the host: remove it from all connected namespaces.  The
 * other members get an event, unless @client was allowed to end.  The rows of their operations
 * decide how these continue. */
void sx_connect_client_gone(struct sx_server *server, struct sx_client *client);
/* The same for a @client that has died.  The watcher (sx_connect_watch) is called first. */
void sx_connect_client_lost(struct sx_server *server, struct sx_client *client);
/* Have @fn called, on the loop thread, when a process has died on which processes of @nspace,
 * another job, depend.  They depend on it when they are connected with it, and have not separated
 * from it.  There is one such function.  Any thread.  Return: PMIX_SUCCESS; PMIX_ERR_INIT without a
 * server. */
pmix_status_t sx_connect_watch(void (*fn)(const pmix_proc_t *lost, const char *nspace));
/* The job of @nspace ends: the remaining members of its connects get an event, if a process of the
 * job has ended without a disconnect.  Return: how many connects, and members of them, were
 * visited: up to @max, but the last connect may be larger; 0: no connect is left. */
size_t sx_connect_job_ends(struct sx_server *server, struct sx_nspace *nspace, size_t max);
/* The same for all that are left. */
void sx_connect_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
/* The server ends. */
void sx_connects_deinit(struct sx_server *server);
void sx_connect_nodess_deinit(struct sx_server *server);

/* ---- connected namespaces over several nodes ------------------------------------------------- */

/* The rows of connect and disconnect that concern members on other nodes.
 *
 * A host that has the entry is called even if all members are here.  The further steps are in
 * agreement.h. */

bool sx_connects_host_always(const struct sx_collective *collective);
pmix_status_t sx_connects_host_ask(struct sx_collective *collective, sx_answered_fn answered);

bool sx_connect_host_answered(struct sx_collective *collective, const struct sx_host_answer *answer,
                              pmix_status_t *ret_status);
pmix_status_t sx_connect_contribute(struct sx_collective *collective, struct sx_blob *blob);

bool sx_disconnect_host_answered(struct sx_collective *collective,
                                 const struct sx_host_answer *answer, pmix_status_t *ret_status);
pmix_status_t sx_disconnect_contribute(struct sx_collective *collective, struct sx_blob *blob);

/* ---- members that leave a list --------------------------------------------------------------- */

/* Effects of the end of a named list of processes, or of a member, on operations
 * under its name. */

/* Return: whether @client is a member, also one that has ended. */
bool sx_membership_has(const struct sx_membership_entry *entry, const struct sx_client *client);

/* End the list for all, and free @entry.  Operations under its name end with PMIX_ERR_NOT_FOUND in
 * the loop's next turn, since other operations may be ending now. */
void sx_membership_end(struct sx_server *server, struct sx_membership_entry *entry);

/* Return: whether @client waits for the others in an operation of @kind that ends the list. */
bool sx_membership_is_waited_for(const struct sx_server *server,
                                 const struct sx_membership_entry *entry, struct sx_client *client,
                                 enum sx_collective_kind kind);

/* List the remaining members in @ret, which the caller clears.  Return: whether one of them is
 * here. */
bool sx_membership_left(struct sx_server *server, const struct sx_membership_entry *entry,
                        struct sx_proc_list *ret);

/* Remove @proc from the list.  When no other member is here, the list ends as well.  @left, which
 * is empty before, gets the remaining members; the caller clears it.  Return: as
 * sx_memberships_leave. */
pmix_status_t sx_membership_leave(struct sx_server *server, struct sx_membership_entry *entry,
                                  const pmix_proc_t *proc, struct sx_proc_list *left);

#define SX_LEAVE_MAX 32u           /* lists that a client leaves in one turn ... */
#define SX_LEAVE_MEMBERS_MAX 4096u /* ... or fewer, at this number of members in all */

struct sx_leaver;
typedef void (*sx_leaver_fn)(struct sx_server *server, struct sx_membership_entry *entry,
                             const struct sx_leaver *leaver);

/* A client that leaves its lists. */
struct sx_leaver {
    pmix_proc_t proc;
    struct sx_client *client; /* its nspace is NULL once it is not a client any more */
    sx_leaver_fn fn;
    /* For a client whose lists take several turns: */
    struct sx_list link;  /* collective.leavers */
    struct sx_list lists; /* of struct sx_belonging: lists that it has still to leave */
};

/* Effects of a member's end on the others. */
struct sx_member_gone {
    const char *name;                 /* of the list; a copy, because the record changes */
    uint8_t pardons;                  /* SX_PARDON_*, for operations under the name */
    pmix_status_t code;               /* of the event to the others; PMIX_SUCCESS: none ... */
    bool is_quiet;                    /* ... sent only to the servers of other nodes ... */
    const struct sx_event_note *note; /* ... with this info besides */
};
/* The member @leaver has ended: its place becomes a gap.  If no other member is here, the list
 * ends.  The engine handles the end of the client next.  It is given the effect on operations under
 * the name: without pardons, they wait for the member in vain. */
void sx_membership_member_gone(struct sx_server *server, struct sx_membership_entry *entry,
                               const struct sx_leaver *leaver, const struct sx_member_gone *gone);

/* Call @fn for each list of @kind that has @client, which ends.  @fn removes @client, or ends the
 * list.  Lists in whose name @client has operations are left before this returns, and SX_LEAVE_MAX
 * others.  The rest is left in later turns, as many in each, no matter what happens to @client. */
void sx_membership_each_of(struct sx_server *server, struct sx_client *client,
                           enum sx_membership_kind kind, sx_leaver_fn fn);
/* Over several nodes, a member may end after all servers have learned that all have called.  Such a
 * process ends as a member of the list @subject, which is made: call @fn for it. */
void sx_membership_ended_leave(uint64_t subject, const struct sx_members *members, sx_leaver_fn fn);
/* Return: whether @client has still to leave some of its lists. */
bool sx_membership_is_leaving(const struct sx_server *server, const struct sx_client *client);
/* Free all clients that are leaving lists step by step; the lists that remain are not left. */
void sx_membership_leavers_deinit(struct sx_server *server);

#endif
