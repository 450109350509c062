/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job.h - what is known about a job, in the job's store: the chapter on job info.
 *
 *     its host registers it: judge, check --> store its info --> derive what is missing
 *         --> topology --> the job has its data: resources and process sets are added
 *     a process is registered later, or connects: derive its own keys
 *     its host delivers resources or an inventory: into every job's store
 *
 * Entry points: sx_jobinfo_judge (any thread), then on the loop thread sx_jobinfo_check,
 * sx_jobinfo_store, sx_derive_client, sx_derive_process, sx_resource_nspace_added and
 * sx_pset_nspace_added; sx_jobinfo_collect for other nodes; sx_pset_define; the host's calls in
 * resources.c, nodemap.c and topology.c.
 *
 * All values are computed here, so no client computes any. */
#ifndef SX_SERVER_JOB_JOB_H
#define SX_SERVER_JOB_JOB_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_server.h>

#include "base/call/directive_tables.h"
#include "server/model/proc_list.h"
#include "server/model/state.h"

struct sx_nspace;

/* ---- node map -------------------------------------------------------------------------------- */

/* The nodes of a job, and the ranks on each: texts and their parsing.
 *
 * PMIx_generate_regex and PMIx_generate_ppn make texts of these forms, and a host may, too:
 *     nodes   "n1,n2,n3"           with the prefix "shmix:" or without
 *     ranks   "0,1;2,3;4-9"        one list a node, in the nodes' order, ranges allowed */

#define SX_NODEMAP_NODE_MAX (1u << 20)

struct sx_nodemap {
    char *text; /* the names are stored in it */
    char **nodes;
    size_t node_count;
    uint32_t node_base;     /* number of the first node: 0 in a parsed map */
    uint32_t *node_of_rank; /* node number, UINT32_MAX for a rank without a node */
    uint32_t rank_count;    /* highest rank named, plus 1 */
    uint32_t rank_capacity;
};

/* Parse both texts; @ranks may be NULL.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for texts that
 * are not such lists (a rank listed twice, more rank lists than nodes, a number too large);
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_nodemap_read(struct sx_nodemap *map, const char *nodes, const char *ranks);
void sx_nodemap_clear(struct sx_nodemap *map);

/* ---- job info -------------------------------------------------------------------------------- */

/* The host's info about a job, written into the job's store. */

/* Store all of @info and the values derived from it (derived_keys.c).  Values of the host are kept
 * as given, with their type.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM with a line that names the
 * key; the error of the store. */
pmix_status_t sx_jobinfo_store(struct sx_server *server, struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo);

enum sx_jobinfo_way {
    SX_JOBINFO_GIVE,   /* store, even over another value */
    SX_JOBINFO_FILL,   /* store in empty cells only */
    SX_JOBINFO_REMOVE, /* remove equal values */
};

/* Apply the same forms to a store that has its data, or remove them, without deriving any value. */
pmix_status_t sx_jobinfo_apply(struct sx_server *server, struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo, enum sx_jobinfo_way way);

/* Whether @key identifies, inside an array, the node, application, session or process of the
 * array. */
bool sx_jobinfo_names_row(const char *key);

/* Refuse a required key that is not an attribute, as no process could act upon it.  Also refuse, at
 * any depth, a key that is used in computations and has a wrong type.  Any thread.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_TYPE_MISMATCH and PMIX_ERR_BAD_PARAM (a key
 * without an end) with a line that names it. */
pmix_status_t sx_jobinfo_judge(const pmix_info_t info[], size_t ninfo);

/* Whether @info can be stored for the job @name: sx_jobinfo_store and sx_jobinfo_apply refuse then
 * nothing that they are given, unless memory is out.  @nspace has the data that the job has so far;
 * NULL: none.  The keys have passed sx_jobinfo_judge.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, or
 * as sx_flat_size, with a line that names the key. */
pmix_status_t sx_jobinfo_check(const char *name, const struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo);

/* The arrays that stand for one row of a realm, and the key that identifies the row. */
struct sx_realm_form {
    const char *key;
    enum sx_realm realm;
    const char *id_key;
};
#define SX_JOBINFO_DEPTH_MAX 4u /* arrays inside arrays */

/* Return: the form with that @key; NULL: it is a plain key. */
const struct sx_realm_form *sx_jobinfo_form(const char *key);
/* Return: the infos inside a DATA_ARRAY value; NULL when it is not such a value. */
const pmix_info_t *sx_jobinfo_array(const pmix_value_t *value, size_t *ret_count);
/* The same for an info of the job @name, which must be such a value, at no more than the greatest
 * depth.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM with a line. */
pmix_status_t sx_jobinfo_array_judge(const char *name, const pmix_info_t *info, unsigned depth,
                                     const pmix_info_t **ret_infos, size_t *ret_count);
/* Return: the rank of the process of the job @name that an array names by PMIX_PROCID; UINT64_MAX:
 * none. */
uint64_t sx_jobinfo_procid(const char *name, const pmix_info_t *inner, size_t count);
/* An array does not name its row.  Return: PMIX_ERR_BAD_PARAM, with a line. */
pmix_status_t sx_jobinfo_row_refuse(const char *name, const pmix_info_t *info,
                                    const struct sx_realm_form *form);
/* Read the maps that @info gives the job @name, or else those that @nspace (it may be NULL) has.
 * *ret stays as it is if there are none.  Return: as sx_nodemap_read, with a line. */
pmix_status_t sx_jobinfo_maps(const char *name, const struct sx_nspace *nspace,
                              const pmix_info_t info[], size_t ninfo, struct sx_nodemap *ret);

/* Whether @info has nothing but the states of processes of @nspace, such as their exit codes, from
 * which no value is derived, and all others have been derived. */
bool sx_jobinfo_derives_nothing(const struct sx_nspace *nspace, const pmix_info_t info[],
                                size_t ninfo);

/* The number of processes that @info announces, flat or in the array of the job; 0: none is
 * given. */
uint32_t sx_jobinfo_job_size(const pmix_info_t info[], size_t ninfo);
/* The session that @info names, flat or in an array; SX_SESSION_NONE: none is given. */
uint64_t sx_jobinfo_session(const pmix_info_t info[], size_t ninfo);

/* ---- job info for other nodes ---------------------------------------------------------------- */

/* The host's info is read back from the job's store, for servers of nodes that have not received
 * it. */

/* Collect the values that hold for the job on every node: the job's keys, its nodes and its
 * applications, in the forms that sx_jobinfo_store reads.  The receiving server derives the values
 * of each process from the maps.  Return: PMIX_SUCCESS, and an array for PMIX_INFO_FREE;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_jobinfo_collect(const struct sx_nspace *nspace, pmix_info_t **ret_info,
                                 size_t *ret_ninfo);

/* ---- derived keys: values that follow from the host's info ----------------------------------- */

/* Return: the index of this node in @map: by the number that the host gave the job, by its name, or
 * because the map has only one node.  UINT32_MAX when none of these gives it. */
uint32_t sx_derive_own_node(const struct sx_server *server, const struct sx_nspace *nspace,
                            const struct sx_nodemap *map);

/* Store the missing values.  For the job: its sizes, nodes and local peers.  For each node: its
 * name, its peers and their number.  For each application: its own keys.  For each rank: host
 * name, node, local and node rank, and application 0.  @map has no nodes when the host gave none;
 * @node_count is the number of nodes that it gave otherwise.  Return: PMIX_SUCCESS; the error of
 * the store. */
pmix_status_t sx_derive(struct sx_server *server, struct sx_nspace *nspace,
                        const struct sx_nodemap *map, uint32_t node_count);

/* The same for a local process that was registered after its namespace. */
pmix_status_t sx_derive_client(struct sx_server *server, struct sx_nspace *nspace,
                               const struct sx_client *client);

/* The process of @client has connected: store its PMIX_PROC_PID, as this server sees it. */
void sx_derive_process(struct sx_server *server, struct sx_client *client);

/* ---- applications: their keys, derived from the application of each rank --------------------- */

/* Store the missing keys of each application: its size and leader.  Where the job has several
 * applications, also the number of its nodes and of the processes that it may have.  @map gives the
 * ranks' nodes; without ranks in it they are unknown.  *ret_count: the number of applications, by
 * their highest number.  Return: PMIX_SUCCESS; the error of the store. */
pmix_status_t sx_apps_derive(struct sx_nspace *nspace, const struct sx_nodemap *map,
                             uint32_t *ret_count);

/* The application of @rank: its own cell's, else the job's, else the first. */
uint32_t sx_apps_of(const struct sx_nspace *nspace, uint32_t rank);

/* Whether @nspace has several applications and all processes of @app are over, each of which is of
 * this node.  A process is over when it has ended, or the host has removed it. */
bool sx_apps_is_over(const struct sx_nspace *nspace, uint32_t app);

/* ---- resources: data that belong to no job, in every job's store ----------------------------- */

/* Such data are a session's, or a node's. */

#define SX_RESOURCE_COUNT_MAX 65536u

/* The namespace has its data now: the resources fill in values that it does not have. */
pmix_status_t sx_resource_nspace_added(struct sx_server *server, struct sx_nspace *nspace);

/* Add the data that a host delivers of nodes to the jobs that have this node.  They replace data
 * delivered before of a node of that name.  They are arrays PMIX_NODE_INFO_ARRAY with a
 * PMIX_HOSTNAME; other infos are ignored.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE above
 * SX_INVENTORY_BYTES_MAX, logged; as sx_jobinfo_apply. */
#define SX_INVENTORY_BYTES_MAX (UINT64_C(16) << 20)
pmix_status_t sx_resources_deliver(struct sx_server *server, const pmix_info_t info[],
                                   size_t ninfo);

/* The server ends: free the resources. */
void sx_resource_clear(struct sx_server *server);

/* ---- topology -------------------------------------------------------------------------------- */

/* Publish the node's topology once, so that no rank probes the machine again.
 *
 * The text is the host's, if it passed a topology to PMIx_server_init; else the server probes the
 * machine.  It does so in PMIx_server_init if the host asks for that (PMIX_SERVER_SHARE_TOPOLOGY
 * true), and never if that is false.  Without that info it does so at the first namespace with
 * local processes. */

/* Take the topology from the host's infos.  On the thread of PMIx_server_init.  A topology that
 * cannot be obtained is logged and is not an error.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for
 * one of a wrong type. */
pmix_status_t sx_server_topology_open(const struct sx_server_options *options);

/* Probe the machine now if it is needed for registering a namespace with @info, whose @options are
 * these, and @local_count processes.  On the host's thread, so that the loop continues
 * meanwhile. */
void sx_server_topology_prepare(int local_count, const struct sx_nspace_options *options,
                                const pmix_info_t info[], size_t ninfo);

/* Store the text for @nspace under the keys that the host did not give, unless it gave a text.
 * Loop thread, after the host's own info.  Return: PMIX_SUCCESS, also when there is no text; as
 * sx_store_put. */
pmix_status_t sx_server_topology_publish(struct sx_nspace *nspace);

/* Free the topology of the host.  It is not published any more. */
void sx_server_topology_close(void);

/* ---- process sets: names that a host, or one of its clients, gives to processes -------------- */

#define SX_PSET_MEMBERS_MAX (1u << 20)

void sx_psets_init(struct sx_server *server);

/* A process set while it is defined.  The caller sets the first four members, and keeps what they
 * point to until the last step. */
struct sx_pset_definition {
    struct sx_client *client; /* NULL: the host */
    const char *name;
    const pmix_proc_t *members;
    size_t count;
    unsigned done;                /* steps */
    uint64_t subject;             /* set when the list exists */
    struct sx_proc_list notified; /* the members as named; the set takes them, if it is to get more
                               * later */
};

/* Do one step of four: the client is charged for each.  Return: PMIX_ERR_WOULD_BLOCK when another
 * step is needed; otherwise the status as of sx_pset_define.  Then, or when it is given up, clear
 * the definition. */
pmix_status_t sx_pset_define_step(struct sx_server *server, struct sx_pset_definition *definition);
void sx_pset_definition_clear(struct sx_pset_definition *definition);

/* Do all steps: the processes are the set @name from now on; @client defines it, NULL: the host.
 * Loop thread.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; as sx_memberships_add. */
pmix_status_t sx_pset_define(struct sx_server *server, struct sx_client *client,
                             const pmix_proc_t members[], size_t count, const char *name);

/* The client has left.  The sets that it has defined are deleted, the first at once and the others
 * soon.  A tool's set is not: it is deleted with the job of its first process. */
void sx_pset_client_gone(struct sx_server *server, struct sx_client *client);
void sx_pset_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

/* A client was added.  If it is the first one of its namespace here, or has another user than the
 * others, the sets of clients are checked.  They have processes of their own user alone. */
void sx_pset_client_added(struct sx_server *server, struct sx_client *client);

/* The namespace has its data now: sets that name all of it, and may have its processes, get them.
 * Return: PMIX_SUCCESS; as sx_memberships_change. */
pmix_status_t sx_pset_nspace_added(struct sx_server *server, struct sx_nspace *nspace);

#endif
