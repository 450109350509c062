/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership.h - the named lists of processes that this server keeps.
 *
 *     (none) --add--> there, generation 1 --change--> the next generation --remove--> (none)
 *
 * A list is in the node's store (shmem/membership.h), of which users read their part
 * (membership_store.c), and here with the data that only the server needs.  The name of a connected
 * namespace or a group is unique among those of a user, and among namespaces.  Sets have names of
 * their own, which stand for no process.  Sets of the host and root are for all, and each user has
 * its own besides.  Each user has names of groups too: the users of a group are those of its
 * members.  Of two users' lists of one name the second is "NAME@UID" in the node's store.  A group
 * of root, or of the server's own user, always has its own name there, and so has a connected
 * namespace.
 *
 * There are at most SX_MEMBERSHIPS_MAX at a time, which take at most SX_MEMBERSHIPS_BYTES_MAX
 * without the host's; each user and process has a share of them (quota.h).  The memory of removed
 * lists is given back. */
#ifndef SX_SERVER_MODEL_MEMBERSHIP_H
#define SX_SERVER_MODEL_MEMBERSHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <pmix_common.h>

#include "base/list.h"
#include "base/system/pages.h"
#include "base/table.h"
#include "control/loop.h"
#include "server/model/proc_list.h"
#include "server/model/quota.h"
#include "shmem/membership.h"

struct sx_alias_list;
struct sx_client;
struct sx_membership;
struct sx_membership_entry;
struct sx_nspace;
struct sx_numa;
struct sx_server;

/* ---- belonging: from a client to its lists --------------------------------------------------- */

/* The lists of processes that a client is in, found from the client.
 *
 * A list has a link for each of its ranks, which hangs at the client of that member while it is one
 * and is registered here.  So a client that ends visits its own lists alone. */

struct sx_belonging {
    struct sx_list link; /* client.belongings, by its kind; zeroed: it hangs nowhere */
    struct sx_membership_entry *entry;
};

/* By rank in the list.  Zeroed is empty.  Those of a small list have no memory of their own: many
 * small blocks that are freed take long when malloc joins them. */
#define SX_BELONGINGS_FEW 5u
struct sx_belongings {
    struct sx_belonging few[SX_BELONGINGS_FEW];
    struct sx_belonging *many; /* NULL: they are few */
    size_t count;
};

/* Return: the one of @rank, which is below the count. */
static inline struct sx_belonging *sx_belonging_at(const struct sx_belongings *belongings,
                                                   uint32_t rank)
{
    return belongings->many != NULL ? &belongings->many[rank]
                                    : (struct sx_belonging *)(uintptr_t)&belongings->few[rank];
}

/* Links for @count ranks, which hang nowhere.  Return: false when memory is out. */
bool sx_belongings_new(struct sx_belongings *ret, size_t count);
/* Hang the links of @entry, which has one for each of its ranks, at its members. */
void sx_belongings_hang(struct sx_server *server, struct sx_membership_entry *entry);
/* The member of @rank has left. */
void sx_belongings_leave(struct sx_belongings *belongings, uint32_t rank);
/* Safe twice. */
void sx_belongings_clear(struct sx_belongings *belongings);

/* ---- the lists ------------------------------------------------------------------------------- */

#define SX_MEMBERSHIPS_MAX 65536u
#define SX_MEMBERSHIPS_BYTES_MAX (UINT64_C(1) << 30)

/* Users of a name: each once.  Root and the server's own user count as one.  Zeroed is empty. */
struct sx_users {
    uid_t first; /* most have no other */
    uid_t *others;
    size_t count, other_capacity;
};

bool sx_users_have(const struct sx_users *users, uid_t uid);
/* Safe twice.  Return: false when memory is out. */
bool sx_users_add(struct sx_users *users, uid_t uid);
/* Safe twice. */
void sx_users_clear(struct sx_users *users);

#define SX_MEMBERSHIP_SMALL_BYTES 160u /* as belongings: no block of its own */

struct sx_membership_entry {
    struct sx_table_node node;      /* memberships.names, sets */
    struct sx_membership published; /* the newest generation: its head, name and members ... */
    void *record;                   /* ... lie here; NULL: they are few, and lie ... */
    _Alignas(8) uint8_t small_record[SX_MEMBERSHIP_SMALL_BYTES]; /* ... here */
    char *alias;               /* its name in the node's store; NULL: its own */
    struct sx_users users;     /* of a group: those for which its name stands for it */
    uint64_t space;            /* 0: no other list of its name was there when it was made; else
                                     * a number that no other list of the name has */
    char *id;                  /* that distinguishes lists of the same members; NULL: none */
    struct sx_quota_row quota; /* its owner's account */
    struct sx_list owned;      /* client.sets: a set of a client that is here */
    struct sx_belongings belongings;
    /* Of a connected namespace: collective/connect.c. */
    struct sx_table_node written;
    struct sx_list unsaid;        /* struct sx_unsaid */
    bool parted;                  /* all have fenced since: no member depends on another */
    struct sx_proc_list notified; /* of a set: as the host named them, if by wildcards */
};

/* A job of which a member of @entry has ended without a disconnect: collective/connect.c. */
struct sx_unsaid {
    struct sx_list link;   /* entry.unsaid */
    struct sx_list of_job; /* nspace.unsaid; in no list: the job has ended before */
    struct sx_membership_entry *entry;
    char nspace[PMIX_MAX_NSLEN + 1];
};
/* Remove it from both, and free it. */
void sx_unsaid_free(struct sx_unsaid *unsaid);

/* A row of the column SX_MEMBERSHIP_ROWS. */
struct sx_membership_slot {
    struct sx_membership_entry *entry; /* NULL: free ... */
    uint32_t free_next;                /* ... as is the slot before this number; 0: no other */
};

struct sx_memberships {
    struct sx_table names; /* of lists other than sets */
    struct sx_table sets;
    struct sx_quota quota;
    struct sx_membership_slot *slots;
    uint32_t slot_count, slot_capacity; /* that were ever in use, and that there is room for */
    uint32_t free_first;                /* a number as free_next */
    uint64_t serial;                    /* the last one that was given */
    uint32_t kind_counts[SX_MEMBERSHIP_KINDS];
    uint32_t spaced_count;        /* lists with a space */
    uint64_t mark_last;           /* of nspace.joined_mark */
    struct sx_list views;         /* membership_store.c: what each user sees of them */
    struct sx_store_writer store; /* the node's */
    bool has_store;
    bool has_news; /* since the last sx_memberships_notify */
};

void sx_memberships_init(struct sx_memberships *all, uint64_t seed);
/* All lists are gone, and so are their readers. */
void sx_memberships_deinit(struct sx_server *server);

struct sx_membership_options {
    const char *name;
    enum sx_membership_kind kind;
    uint32_t flags; /* SX_MEMBERSHIP_* */
    uint64_t context_id;
    const char *id;           /* copied; NULL: none */
    const pmix_proc_t *procs; /* no wildcard, each once, in the order of their ranks in it */
    size_t proc_count;
    const struct sx_alias_list *made;   /* not NULL: the processes, in the place of these */
    const struct sx_quota_owner *owner; /* NULL: a set is the host's, another the first client's */
    size_t notified_count;              /* processes that its entry is to keep beside its members */
};
/* Make a list and show it to all.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS when another list has the
 * name; PMIX_ERR_BAD_PARAM, as sx_membership_encode; PMIX_ERR_OUT_OF_RESOURCE, logged, and then
 * nothing has changed. */
pmix_status_t sx_memberships_add(struct sx_server *server,
                                 const struct sx_membership_options *options,
                                 struct sx_membership_entry **ret);

/* Return: PMIX_SUCCESS when a process of user @uid may give @name to a new list other than a set;
 * PMIX_ERR_EXISTS, logged; PMIX_ERR_BAD_PARAM. */
pmix_status_t sx_memberships_name_judge(struct sx_server *server, uid_t uid, const char *name);

/* Return: the set of the host or root, else one of a user; NULL when there is none. */
struct sx_membership_entry *sx_memberships_find_set(const struct sx_server *server,
                                                    const char *name);
/* Return: the set that a process of user @uid means; NULL when there is none. */
struct sx_membership_entry *sx_memberships_find_set_of(const struct sx_server *server, uid_t uid,
                                                       const char *name);

#define SX_NAMES_OF_HOST ((uid_t)0) /* what root means, the host means */

/* The same for a connected namespace, which any user may name, or a group.  Root means a group of
 * its own, or else that which has @name in the node's store. */
struct sx_membership_entry *sx_memberships_find_of(const struct sx_server *server, uid_t uid,
                                                   const char *name);
/* The same for what the host means. */
struct sx_membership_entry *sx_memberships_find(const struct sx_server *server, const char *name);
/* The same, of all that have @name: the one with this @member. */
struct sx_membership_entry *sx_memberships_find_with(const struct sx_server *server,
                                                     const char *name, const pmix_proc_t *member);
/* The list of @name behind @entry, the first for NULL, in no order.  Return: NULL at the end. */
struct sx_membership_entry *sx_memberships_named(const struct sx_server *server, const char *name,
                                                 const struct sx_membership_entry *entry);
struct sx_membership_entry *sx_memberships_of(const struct sx_server *server, uint64_t subject);
/* The list behind @entry, the first for NULL, in no order.  Return: NULL at the end. */
struct sx_membership_entry *sx_memberships_next(const struct sx_server *server,
                                                const struct sx_membership_entry *entry);

/* For membership.c: the hash of a list's name; whether a new list may be made, and the users of a
 * group; its name in the node's store; to show it there, under its alias if it has one. */
uint64_t sx_memberships_name_hash(const struct sx_server *server, const char *name);
pmix_status_t sx_memberships_new_judge(struct sx_server *server,
                                       const struct sx_membership_options *options,
                                       struct sx_users *ret);
pmix_status_t sx_memberships_alias_make(struct sx_server *server, struct sx_membership_entry *entry,
                                        const struct sx_membership_options *options);
const char *sx_memberships_store_name(const struct sx_membership_entry *entry);
pmix_status_t sx_memberships_publish(struct sx_memberships *all,
                                     const struct sx_membership_entry *entry,
                                     const struct sx_membership *list);

/* @name is wanted for another list, or a namespace: a group that is called so in the node's store
 * gets another name there.  Return: PMIX_SUCCESS, also when there is none; as sx_memberships_add,
 * and then nothing has changed. */
pmix_status_t sx_memberships_store_name_free(struct sx_server *server, const char *name);

/* The members of @entry are @procs from now on: members that stay keep their places, and
 * PMIX_RANK_INVALID stands in the place of one that has left.  Return: as sx_memberships_add, and
 * in case of an error nothing has changed. */
pmix_status_t sx_memberships_change(struct sx_server *server, struct sx_membership_entry *entry,
                                    const pmix_proc_t *procs, size_t proc_count);
/* @proc is not a member any more; no other member's place changes.  PMIX_ERR_NOT_FOUND: it was not
 * a member. */
pmix_status_t sx_memberships_leave(struct sx_server *server, struct sx_membership_entry *entry,
                                   const pmix_proc_t *proc);

/* Whether @client is in one connected namespace or group with a process of @nspace.  Walks the
 * lists that @client is in, sets not among them, and @client pays. */
bool sx_memberships_join(struct sx_server *server, struct sx_client *client, const char *nspace);
/* The same for all namespaces at once.  Return: the mark that each of them has as its joined_mark
 * until the next call. */
uint64_t sx_memberships_mark(struct sx_server *server, struct sx_client *client);

/* The same for a process of any node, whose walk through all lists is not charged. */
bool sx_memberships_hold_both(struct sx_server *server, const pmix_proc_t *proc,
                              const char *nspace);

#define SX_MEMBERS_PER_UNIT 4u /* to leave a list, or to end it: share.h */
/* @units were spent on @entry, whose owner is not at work.  The process that owns the list pays, or
 * another one of its user; work on the host's lists is not charged. */
void sx_memberships_charge_owner(struct sx_server *server, const struct sx_membership_entry *entry,
                                 uint64_t units);

/* Remove the list for all readers; @entry is freed. */
void sx_memberships_remove(struct sx_server *server, struct sx_membership_entry *entry);

/* At the end of a turn: wake the waiters for a change, if there was one. */
void sx_memberships_notify(struct sx_server *server);

/* The members in the order of their ranks, gaps as PMIX_RANK_INVALID.  Return: malloc'ed, as many
 * as sx_membership_size says; NULL when memory is out. */
pmix_proc_t *sx_memberships_procs(const struct sx_membership_entry *entry);

/* ---- what a user sees of them ---------------------------------------------------------------- */

/* Which named lists of processes a user's processes may read.
 *
 *     (none) --a process of the user asks for them--> a store, kept up to date
 *         ^--others ask, and no process of the user is connected--/
 *
 * Root, and the server's own user, read the node's store, which has all lists.  Other users have a
 * store each.  It has the lists that the host has made, root's process sets, those that processes
 * of the user have made, and the connected namespaces and groups in which the user has a process.
 *
 * Memory: the size of the shown lists once more.  Loop thread. */

/* Make the node's store, unless it is there.  Return: PMIX_SUCCESS, as sx_store_create. */
pmix_status_t sx_memberships_open(struct sx_server *server);

/* Whether user @uid reads the node's store. */
bool sx_memberships_see_all(uid_t uid);

/* Whether the host or root has made the list: then it is for all. */
bool sx_membership_is_hosts(const struct sx_membership_entry *entry);
/* Whether processes of user @uid may see @entry. */
bool sx_memberships_show(struct sx_server *server, const struct sx_membership_entry *entry,
                         uid_t uid);

/* Make the store that processes of user @uid read, when it is first wanted.  The store is filled in
 * steps of some @units (share.h).  Return: whether it is complete. */
bool sx_memberships_fill(struct sx_server *server, uid_t uid, uint64_t units, uint64_t *ret_units);
/* Complete the store of @uid.  Return: the store; NULL, logged, when it cannot be made; then no
 * list is visible. */
const struct sx_store *sx_memberships_store(struct sx_server *server, uid_t uid);
/* How many lists of @kind are in that store, once it is complete. */
uint32_t sx_memberships_count(struct sx_server *server, uid_t uid, enum sx_membership_kind kind);
/* The store for a process of @uid to map: a descriptor of its own.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE; as sx_segment_share. */
pmix_status_t sx_memberships_share(struct sx_server *server, uid_t uid, int *ret_fd);

/* @entry has been made, has changed, or is removed. */
void sx_memberships_shown_update(struct sx_server *server, struct sx_membership_entry *entry);
void sx_memberships_shown_remove(struct sx_server *server, struct sx_membership_entry *entry);
void sx_memberships_shown_deinit(struct sx_server *server);

/* ---- alias: a list's name in the place of a namespace's -------------------------------------- */

/* The name of a connected namespace or group stands where a namespace's does.
 *
 *     {alias, rank}      the member of that rank
 *     {alias, WILDCARD}  all members
 *
 * A function that receives process names resolves them here, once, before it uses them.  Later code
 * handles real processes alone.  A process that is not named by an alias stays as it is. */

#define SX_ALIAS_PROCS_MAX 131072u /* that one list may stand for */

/* All of these take the user whose process uses the name, SX_NAMES_OF_HOST for the host. */

/* Return: the list of that @name, NULL when the name is not an alias. */
const struct sx_membership *sx_alias_members(const struct sx_server *server, uid_t uid,
                                             const char *name);

/* Return: 0, unless one of @procs has the name of a list with a space: then a number that other
 * lists of the same names would not give. */
uint64_t sx_alias_space(const struct sx_server *server, uid_t uid, const pmix_proc_t procs[],
                        size_t count);

/* Call @each for each process that @proc means, one by one, until it does not return PMIX_SUCCESS:
 * members in the order of their ranks in the alias, and the wildcard of a namespace on this server
 * as its single processes.  Return: that; PMIX_ERR_NOT_FOUND for an alias without such a member, or
 * whose member of that rank has left. */
pmix_status_t sx_alias_each_one(struct sx_server *server, uid_t uid, const pmix_proc_t *proc,
                                pmix_status_t (*each)(void *arg, const pmix_proc_t *real),
                                void *arg);

/* The one process that @proc means.  Return: as sx_alias_each_one; the wildcard of an alias is not
 * found. */
pmix_status_t sx_alias_one(struct sx_server *server, uid_t uid, const pmix_proc_t *proc,
                           pmix_proc_t *ret);

/* Return: the rank of @client in @name, a namespace or an alias; PMIX_RANK_INVALID: none. */
uint32_t sx_alias_rank(const struct sx_server *server, uid_t uid, const char *name,
                       const struct sx_client *client);
/* Whether @proc means @client: as itself, as a member of an alias, or among others. */
bool sx_alias_means(const struct sx_server *server, uid_t uid, const pmix_proc_t *proc,
                    const struct sx_client *client);

/* The processes that a list with an alias means, by their namespaces and ranks, each once.
 *
 *     MADE --sx_alias_name, in steps--> NAMED
 *
 * A process takes four bytes until a host needs it as a pmix_proc_t of 260: a pass over 131,072 of
 * these takes milliseconds, and so does the memory for them.  All processes of a job of this server
 * are its wildcard. */
struct sx_alias_made {
    _Atomic unsigned references; /* a question to the host may outlast the server */
    size_t part_count;
    struct sx_membership_part *parts; /* by name, each name once: their ranks ... */
    uint32_t *ranks;                  /* ... lie one behind the other, and ascend */
    struct sx_pages names;
    size_t named, named_parts; /* that are written; the part of the last of them */
};

/* The processes that a list means. */
struct sx_alias_list {
    pmix_proc_t *all; /* in order and each once, NULL until they are named; or as they were given */
    size_t count;
    struct sx_alias_made *made; /* NULL: there was no alias, and the caller owns them */
};

/* @payer, NULL for a host, pays for the work with its share.  Return: PMIX_SUCCESS, to be cleared;
 * PMIX_ERR_NOT_FOUND, as sx_alias_each_one; PMIX_ERR_OUT_OF_RESOURCE, logged when there are more
 * than SX_ALIAS_PROCS_MAX processes. */
pmix_status_t sx_alias_list(struct sx_server *server, struct sx_client *payer, uid_t uid,
                            pmix_proc_t *procs, size_t count, struct sx_alias_list *ret);
/* The same, but a process that is not there (any more) stays in the list under its given name. */
pmix_status_t sx_alias_list_found(struct sx_server *server, struct sx_client *payer, uid_t uid,
                                  pmix_proc_t *procs, size_t count, struct sx_alias_list *ret);
/* Safe on a zeroed one and twice. */
void sx_alias_list_clear(struct sx_alias_list *list);
/* Processes of one namespace, whose ranks are in any order. */
struct sx_alias_run {
    const char *nspace;
    const uint32_t *ranks;
    uint32_t count;
};
/* Make the list of the processes of @runs: in order, each once.  Runs may have the same namespace,
 * and the same processes.  Return: false when memory is out; else to be cleared. */
bool sx_alias_list_of(const struct sx_alias_run runs[], size_t count, struct sx_alias_list *ret);
/* Whether a list that was made has the process. */
bool sx_alias_made_has(const struct sx_alias_list *list, const char *nspace, uint32_t rank);
/* A list with the same processes for another owner, to be freed: those that were made are shared.
 * Return: false when memory is out. */
bool sx_alias_list_copy(struct sx_alias_list *ret, const struct sx_alias_list *list);
/* Safe on a zeroed one and twice. */
void sx_alias_list_free(struct sx_alias_list *copy);

#define SX_ALIAS_NAMED_PER_TURN 2048u
#define SX_ALIAS_NAMED_UNITS 400u /* that naming so many takes: share.h */
/* Name up to *@left more processes of the list, and count *@left down.  The list has them as ->all
 * when all are named.  Return: PMIX_SUCCESS; PMIX_ERR_WOULD_BLOCK: not all yet;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_alias_name(struct sx_alias_list *list, size_t *left);

/* For those that need the names longer than the list; NULL: nothing.  Any thread. */
struct sx_alias_made *sx_alias_made_retain(struct sx_alias_made *made);
void sx_alias_made_release(struct sx_alias_made *made);

/* The processes of a list one after the other.  Set the list, and zero the rest. */
struct sx_alias_walk {
    const struct sx_alias_list *list;
    const char *nspace;
    uint32_t rank;
    bool is_new; /* the namespace: the process before is of another one */
    size_t next, part, part_end;
};
/* Return: false at the end. */
static inline bool sx_alias_next(struct sx_alias_walk *walk)
{
    const struct sx_alias_list *const list = walk->list;
    const struct sx_alias_made *const made = list->made;

    if (walk->next == list->count) {
        return false;
    }
    if (made == NULL) {
        const pmix_proc_t *const proc = &list->all[walk->next];

        walk->is_new = walk->nspace == NULL || strcmp(walk->nspace, proc->nspace) != 0;
        walk->nspace = proc->nspace; /* the nearest one is in the cache */
        walk->rank = proc->rank;
    } else {
        walk->is_new = walk->next == walk->part_end;
        if (walk->is_new) {
            walk->nspace = made->parts[walk->part].nspace;
            walk->part_end += made->parts[walk->part++].count;
        }
        walk->rank = made->ranks[walk->next];
    }
    walk->next++;
    return true;
}

/* Go on behind the processes of the namespace at which the walk is, if the list was made and names
 * them one by one.  *ret_count: how many these are, with that of the walk; *ret_here: and how many
 * of @clients, in the order of their ranks.  Return: false: the walk is where it was. */
bool sx_alias_skip(struct sx_alias_walk *walk, struct sx_client *const clients[],
                   size_t client_count, size_t *ret_count, size_t *ret_here);

/* Whether a process of @nspace is in the list, which is in order. */
bool sx_alias_list_names(const struct sx_alias_list *list, const char *nspace);
/* Whether the list has the wildcard of @nspace. */
bool sx_alias_list_has_all(const struct sx_alias_list *list, const char *nspace);
bool sx_alias_made_are_equal(const struct sx_alias_list *left, const struct sx_alias_list *right);
/* Whether two lists, each in order, are the same. */
static inline bool sx_alias_lists_are_equal(const struct sx_alias_list *left,
                                            const struct sx_alias_list *right)
{
    return left->made != NULL || right->made != NULL
               ? sx_alias_made_are_equal(left, right)
               : sx_procs_are_equal(left->all, left->count, right->all, right->count);
}
uint64_t sx_alias_made_hash(const struct sx_alias_list *list, uint64_t seed);
/* Return: as sx_procs_hash. */
static inline uint64_t sx_alias_list_hash(const struct sx_alias_list *list, uint64_t seed)
{
    return list->made != NULL ? sx_alias_made_hash(list, seed)
                              : sx_procs_hash(list->all, list->count, seed);
}

#endif
