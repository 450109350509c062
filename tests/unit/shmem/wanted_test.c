/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wanted_test.c - in which places a Get looks, whoever asks. */
#include <criterion/criterion.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"
#include "shmem/wanted.h"

#define NONE UINT32_MAX
#define ALL PMIX_RANK_WILDCARD
#define OWN PMIX_RANK_INVALID
#define BIG 4000000000u

static struct sx_store_writer store;

static void put(enum sx_realm realm, uint32_t row, const char *key, uint32_t number)
{
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    cr_assert_eq(sx_store_put(&store, realm, row, key, PMIX_GLOBAL, &value), PMIX_SUCCESS);
}

static void put_text(enum sx_realm realm, uint32_t row, const char *key, const char *text)
{
    const pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text };

    cr_assert_eq(sx_store_put(&store, realm, row, key, PMIX_GLOBAL, &value), PMIX_SUCCESS);
}

/* Four ranks on two nodes and in two apps; we are rank 2, on node 1, of app 1. */
static void begin(void)
{
    const struct sx_store_options options = { .nspace = "wanted", .row_count = 4 };

    cr_assert_eq(sx_store_create(&store, &options), PMIX_SUCCESS);
    put(SX_REALM_JOB, ALL, PMIX_JOB_SIZE, 4);
    put(SX_REALM_JOB, ALL, PMIX_NUM_NODES, 2);
    put_text(SX_REALM_JOB, ALL, PMIX_HOSTNAME, "alpha");
    for (uint32_t rank = 0; rank < 4; rank++) {
        put(SX_REALM_JOB, rank, PMIX_NODEID, rank / 2);
        put(SX_REALM_JOB, rank, PMIX_APPNUM, rank / 2);
    }
    put_text(SX_REALM_NODE, 0, PMIX_HOSTNAME, "alpha");
    put_text(SX_REALM_NODE, 1, PMIX_HOSTNAME, "beta");
    put(SX_REALM_NODE, 0, PMIX_NODE_SIZE, 100);
    put(SX_REALM_NODE, 1, PMIX_NODE_SIZE, 101);
    put(SX_REALM_APP, 0, PMIX_APP_SIZE, 200);
    put(SX_REALM_APP, 1, PMIX_APP_SIZE, 201);
    put(SX_REALM_JOB, ALL, "pmix.flat", 300); /* a host that does not say of what */
    put(SX_REALM_JOB, 3, "put", 400);
    put(SX_REALM_JOB, 3, PMIX_LOCAL_RANK, 1);
}

static void end(void)
{
    sx_store_destroy(&store);
}

TestSuite(wanted, .init = begin, .fini = end);

/* Return: NONE when it is not found. */
static uint32_t find(uint32_t self, pmix_rank_t rank, const char *key, const pmix_info_t *info,
                     size_t ninfo)
{
    const struct sx_site site = { .shared = &store.view, .self = self };
    struct sx_wanted wanted;
    struct sx_item item;

    cr_assert_eq(sx_wanted_read(&wanted, SX_OF_GET, rank, key, info, ninfo), PMIX_SUCCESS, "%s",
                 key);
    const pmix_status_t rc = sx_wanted_find(&wanted, &site, &item);
    cr_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND);
    return rc == PMIX_SUCCESS ? (uint32_t)item.cell.bits : NONE;
}

static const struct {
    const char *why;
    uint32_t self;
    pmix_rank_t rank;
    const char *key;
    uint32_t want;
} by_rank[] = {
    { "what a rank has put", 2, 3, "put", 400 },
    { "what another has put", 2, 1, "put", NONE },
    { "whoever has put it", 2, ALL, "put", 400 },
    { "whoever has put it, asked by a host", OWN, ALL, "put", 400 },
    { "nobody named", 2, PMIX_RANK_UNDEF, "put", 400 },
    { "what nobody has put", 2, ALL, "never", NONE },
    { "a key of ranks is none of the job's", 2, ALL, PMIX_LOCAL_RANK, NONE },
    { "a rank's own", 2, 3, PMIX_LOCAL_RANK, 1 },
    { "the job's, of a rank", 2, 3, PMIX_JOB_SIZE, 4 },
    { "our node's", 2, ALL, PMIX_NODE_SIZE, 101 },
    { "our app's", 2, ALL, PMIX_APP_SIZE, 201 },
    { "the app of a rank", 2, 0, PMIX_APP_SIZE, 200 },
    { "the app of a rank, asked by a host", OWN, 3, PMIX_APP_SIZE, 201 },
    { "our app's, of a rank that has none", 2, 9, PMIX_APP_SIZE, 201 },
    { "the host's node", OWN, ALL, PMIX_NODE_SIZE, 100 },
    { "the host's app", OWN, ALL, PMIX_APP_SIZE, 200 },
};

Test(wanted, a_rank_leads_to_its_cell_and_the_jobs)
{
    for (size_t i = 0; i < SX_COUNT(by_rank); i++) {
        cr_expect_eq(find(by_rank[i].self, by_rank[i].rank, by_rank[i].key, NULL, 0),
                     by_rank[i].want, "%s", by_rank[i].why);
    }
}

static const struct {
    const char *why, *realm, *id_key;
    uint32_t id;
    const char *key;
    uint32_t want;
} by_realm[] = {
    { "our node", PMIX_NODE_INFO, NULL, 0, PMIX_NODE_SIZE, 101 },
    { "the node that is named", PMIX_NODE_INFO, PMIX_NODEID, 0, PMIX_NODE_SIZE, 100 },
    { "no such node", PMIX_NODE_INFO, PMIX_NODEID, 7, PMIX_NODE_SIZE, NONE },
    { "an app's number names no node", PMIX_NODE_INFO, PMIX_APPNUM, 0, PMIX_NODE_SIZE, 101 },
    { "said for the job", PMIX_NODE_INFO, NULL, 0, "pmix.flat", 300 },
    { "said for the job, our node's number", PMIX_NODE_INFO, PMIX_NODEID, 1, "pmix.flat", 300 },
    { "said for the job, not of another node", PMIX_NODE_INFO, PMIX_NODEID, 0, "pmix.flat", NONE },
    { "our app", PMIX_APP_INFO, NULL, 0, PMIX_APP_SIZE, 201 },
    { "the app that is named", PMIX_APP_INFO, PMIX_APPNUM, 0, PMIX_APP_SIZE, 200 },
    { "said for the job, our app", PMIX_APP_INFO, PMIX_APPNUM, 1, "pmix.flat", 300 },
    { "said for the job, not of another app", PMIX_APP_INFO, PMIX_APPNUM, 0, "pmix.flat", NONE },
    { "our session", PMIX_SESSION_INFO, NULL, 0, "pmix.flat", 300 },
    { "a session without a name", PMIX_SESSION_INFO, PMIX_SESSION_ID, 17, "pmix.flat", 300 },
    { "the job alone", PMIX_JOB_INFO, NULL, 0, PMIX_NODE_SIZE, NONE },
};

Test(wanted, a_realm_leads_to_the_row_that_is_named_or_ours)
{
    for (size_t i = 0; i < SX_COUNT(by_realm); i++) {
        pmix_info_t infos[2];

        PMIx_Info_load(&infos[0], by_realm[i].realm, NULL, PMIX_BOOL);
        if (by_realm[i].id_key != NULL) {
            PMIx_Info_load(&infos[1], by_realm[i].id_key, &by_realm[i].id, PMIX_UINT32);
        }
        cr_expect_eq(find(2, ALL, by_realm[i].key, infos, by_realm[i].id_key != NULL ? 2 : 1),
                     by_realm[i].want, "%s", by_realm[i].why);
    }
}

static const struct {
    const char *why, *id_key;
    uint32_t id;
    const char *key;
    uint32_t want;
} by_name_alone[] = {
    { "the node that is named", PMIX_NODEID, 0, PMIX_NODE_SIZE, 100 },
    { "no such node", PMIX_NODEID, 99, PMIX_NODE_SIZE, NONE },
    { "no such node, said for the job", PMIX_NODEID, 99, "pmix.flat", NONE },
    { "no such node, the job's key", PMIX_NODEID, 99, PMIX_JOB_SIZE, NONE },
    { "our node, said for the job", PMIX_NODEID, 1, "pmix.flat", 300 },
    { "our node does not say, the job does", PMIX_NODEID, 1, "pmix.both", 500 },
    { "another node does not say", PMIX_NODEID, 0, "pmix.both", NONE },
    { "the job's key, and a node that exists", PMIX_NODEID, 0, PMIX_JOB_SIZE, 4 },
    { "a node that the host counts from elsewhere", PMIX_NODEID, 40, PMIX_NODE_SIZE, 140 },
    { "the app that is named", PMIX_APPNUM, 0, PMIX_APP_SIZE, 200 },
    { "no such app", PMIX_APPNUM, 99, "pmix.flat", NONE },
    { "the session that is named", PMIX_SESSION_ID, 5, PMIX_UNIV_SIZE, 16 },
    { "no such session", PMIX_SESSION_ID, 99, PMIX_UNIV_SIZE, NONE },
    { "no such session, the job's key", PMIX_SESSION_ID, 99, PMIX_JOB_SIZE, NONE },
    { "not of sessions", PMIX_SESSION_ID, 5, PMIX_JOB_SIZE, 4 },
};

Test(wanted, who_is_named_without_a_realm_has_to_exist)
{
    put(SX_REALM_NODE, 2, "pmix.both", 502);
    put(SX_REALM_JOB, ALL, "pmix.both", 500);
    put(SX_REALM_NODE, 40, PMIX_NODE_SIZE, 140);
    put_text(SX_REALM_NODE, 40, PMIX_HOSTNAME, "far");
    put(SX_REALM_JOB, ALL, PMIX_SESSION_ID, 5);
    put(SX_REALM_JOB, ALL, PMIX_UNIV_SIZE, 16);
    for (size_t i = 0; i < SX_COUNT(by_name_alone); i++) {
        pmix_info_t info;

        PMIx_Info_load(&info, by_name_alone[i].id_key, &by_name_alone[i].id, PMIX_UINT32);
        cr_expect_eq(find(2, ALL, by_name_alone[i].key, &info, 1), by_name_alone[i].want, "%s",
                     by_name_alone[i].why);
    }
}

Test(wanted, a_name_of_no_node_is_no_answer_for_ours)
{
    static const char *const names[] = { "nowhere", "beta" };

    for (size_t i = 0; i < SX_COUNT(names); i++) {
        pmix_info_t info;

        PMIx_Info_load(&info, PMIX_HOSTNAME, names[i], PMIX_STRING);
        cr_expect_eq(find(2, ALL, "pmix.flat", &info, 1), i == 0 ? NONE : 300u, "%s", names[i]);
        PMIx_Info_destruct(&info);
    }
}

static uint32_t find_session(uint32_t id, const char *key)
{
    pmix_info_t infos[2];

    PMIx_Info_load(&infos[0], PMIX_SESSION_INFO, NULL, PMIX_BOOL);
    PMIx_Info_load(&infos[1], PMIX_SESSION_ID, &id, PMIX_UINT32);
    return find(2, ALL, key, infos, 2);
}

static const struct {
    const char *name;
    uint32_t want;
} by_name[] = {
    { "alpha", 100 }, { "beta", 101 },       { "alpha.here", 100 },
    { "gamma", 100 }, { "alpha.her", NONE }, { "", NONE },
};

Test(wanted, a_node_goes_by_its_name_and_its_aliases)
{
    put_text(SX_REALM_NODE, 0, PMIX_HOSTNAME_ALIASES, "alpha.here,beta,gamma");
    for (size_t i = 0; i < SX_COUNT(by_name); i++) {
        pmix_info_t infos[2];

        PMIx_Info_load(&infos[0], PMIX_NODE_INFO, NULL, PMIX_BOOL);
        PMIx_Info_load(&infos[1], PMIX_HOSTNAME, by_name[i].name, PMIX_STRING);
        cr_expect_eq(find(2, ALL, PMIX_NODE_SIZE, infos, 2), by_name[i].want, "%s",
                     by_name[i].name);
        PMIx_Info_destruct(&infos[1]);
    }
}

Test(wanted, a_session_has_any_number)
{
    put(SX_REALM_JOB, ALL, PMIX_SESSION_ID, BIG);
    put(SX_REALM_JOB, ALL, PMIX_UNIV_SIZE, 16);
    cr_expect_eq(find_session(BIG, PMIX_UNIV_SIZE), 16u, "the job's word");
    cr_expect_eq(find_session(BIG, PMIX_SESSION_ID), BIG);
    cr_expect_eq(find_session(17, PMIX_UNIV_SIZE), NONE, "it is called otherwise");
    put(SX_REALM_SESSION, 1, PMIX_SESSION_ID, 17);
    put(SX_REALM_SESSION, 1, PMIX_UNIV_SIZE, 32);
    cr_expect_eq(find_session(17, PMIX_UNIV_SIZE), 32u, "another one");
    cr_expect_eq(find_session(BIG, PMIX_UNIV_SIZE), 16u);
    cr_expect_eq(find_session(18, PMIX_UNIV_SIZE), NONE);
}

Test(wanted, a_new_session_gets_the_first_free_row)
{
    const struct sx_site site = { .shared = &store.view, .self = OWN };
    uint32_t row;

    cr_expect_not(sx_session_row(&site, 17, &row));
    cr_expect_eq(row, 0u, "the job's own is told of first");
    put(SX_REALM_JOB, ALL, PMIX_SESSION_ID, 5);
    cr_expect_not(sx_session_row(&site, 17, &row));
    cr_expect_eq(row, 1u, "the job's own has another name");
    cr_expect(sx_session_row(&site, 5, &row));
    cr_expect_eq(row, 0u);
    for (uint32_t i = 1; i < SX_SESSION_COUNT_MAX; i++) {
        put(SX_REALM_SESSION, i, PMIX_SESSION_ID, 100 + i);
    }
    cr_expect_not(sx_session_row(&site, 17, &row));
    cr_expect_eq(row, SX_SESSION_COUNT_MAX, "no more");
}

/* ---- names --------------------------------------------------------------------------------- */

static const struct {
    const char *why;
    uint32_t self;
    pmix_rank_t rank, want;
} names[] = {
    { "whoever is named", 2, 3, 3 },
    { "who asks", 2, PMIX_RANK_UNDEF, 2 },
    { "who asks and does not know", 2, PMIX_RANK_INVALID, 2 },
    { "who asks is not of the job", OWN, PMIX_RANK_INVALID, NONE },
    { "beyond the job", 2, 4, NONE },
    { "the job has no rank", 2, ALL, NONE },
};

Test(wanted, a_process_may_ask_who_it_is)
{
    for (size_t i = 0; i < SX_COUNT(names); i++) {
        const struct sx_site site = { .shared = &store.view, .self = names[i].self };
        const bool found = names[i].want != NONE;
        struct sx_wanted wanted;
        struct sx_item item;
        pmix_value_t value;

        put(SX_REALM_JOB, 0, PMIX_RANK, 0); /* of somebody else */
        cr_assert_eq(sx_wanted_read(&wanted, SX_OF_GET, names[i].rank, PMIX_RANK, NULL, 0),
                     PMIX_SUCCESS);
        cr_expect_eq(sx_wanted_find(&wanted, &site, &item), PMIX_ERR_NOT_FOUND);
        cr_assert_eq(sx_wanted_name(&wanted, &site, "wanted", &value),
                     found ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, "%s", names[i].why);
        cr_expect(!found || (value.type == PMIX_PROC_RANK && value.data.rank == names[i].want),
                  "%s", names[i].why);
        cr_assert_eq(sx_wanted_read(&wanted, SX_OF_GET, names[i].rank, PMIX_PROCID, NULL, 0),
                     PMIX_SUCCESS);
        if (sx_wanted_name(&wanted, &site, "wanted", &value) == PMIX_SUCCESS) {
            cr_expect_str_eq(value.data.proc->nspace, "wanted");
            cr_expect_eq(value.data.proc->rank, names[i].want, "%s", names[i].why);
            PMIx_Value_destruct(&value);
        }
    }
}

Test(wanted, a_rank_that_is_none_is_refused_for_everything_else)
{
    struct sx_wanted wanted;

    cr_expect_eq(sx_wanted_read(&wanted, SX_OF_GET, PMIX_RANK_INVALID, PMIX_JOB_SIZE, NULL, 0),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_wanted_read(&wanted, SX_OF_GET, PMIX_RANK_INVALID, NULL, NULL, 0),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_wanted_read(&wanted, SX_OF_GET, PMIX_RANK_LOCAL_NODE, PMIX_RANK, NULL, 0),
                 PMIX_ERR_BAD_PARAM);
}
