/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_test.c - the infos that go with an upcall, and what a host's word on a client means. */
#include "server/port/host.h"

#include <stdlib.h>

#include "bare.h"

static struct sx_server server;
static struct sx_client *client;

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);
}

static void end(void)
{
    sx_upcall_forget_all(&server);
    cr_expect_eq(client->reference_count, 1, "nothing is pending");
    bare_deinit(&server);
}

TestSuite(host, .init = begin, .fini = end);

static void on_told(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    (void)asker, (void)answer;
}

/* ---- clients ---------------------------------------------------------------------------------- */

static pmix_status_t returns;
static unsigned called, called2;

static pmix_status_t on_connected(const pmix_proc_t *proc, void *server_object,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)server_object, (void)cbdata;
    cr_expect_str_eq(proc->nspace, "job");
    cr_expect_null(cbfunc);
    called++;
    return returns;
}

static pmix_status_t on_connected2(const pmix_proc_t *proc, void *server_object, pmix_info_t *info,
                                   size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)server_object, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    called2++;
    return returns;
}

static const struct {
    pmix_status_t returns, want;
} connects[] = { { PMIX_SUCCESS, PMIX_SUCCESS },
                 { PMIX_OPERATION_SUCCEEDED, PMIX_SUCCESS },
                 { PMIX_ERR_NOT_SUPPORTED, PMIX_SUCCESS },
                 { PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_NO_PERMISSIONS } };

Test(host, refuses_a_client_by_a_refusal_alone)
{
    cr_expect_eq(sx_host_client_connected(&server, client), PMIX_SUCCESS, "nobody is asked");
    server.module.client_connected = on_connected;
    for (size_t i = 0; i < SX_COUNT(connects); i++) {
        returns = connects[i].returns;
        cr_expect_eq(sx_host_client_connected(&server, client), connects[i].want, "row %zu", i);
    }
    server.module.client_connected2 = on_connected2;
    cr_expect_eq(sx_host_client_connected(&server, client), PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(called, SX_COUNT(connects));
    cr_expect_eq(called2, 1, "the newer one alone");
}

/* ---- fences and direct modex ------------------------------------------------------------------ */

static char keys[256];

static void keys_note(const pmix_info_t *info, size_t ninfo)
{
    keys[0] = '\0';
    for (size_t i = 0; i < ninfo; i++) {
        strcat(keys, info[i].key);
        strcat(keys, " ");
    }
}

static pmix_status_t on_fence(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    (void)cbfunc, (void)cbdata, (void)ndata;
    cr_expect_eq(nprocs, 1);
    cr_expect_str_eq(procs[0].nspace, "job");
    keys_note(info, ninfo);
    free(data);
    return PMIX_SUCCESS;
}

static void fence_now(void *asker, uint64_t now_ns)
{
    pmix_proc_t proc;
    struct sx_wishes wishes;
    pmix_info_t wish;
    const struct sx_host_fence fence = {
        .procs = &proc, .nprocs = 1, .bytes = calloc(1, 8), .size = 8, .wishes = &wishes
    };

    (void)now_ns;
    PMIx_Load_procid(&proc, "job", PMIX_RANK_WILDCARD);
    sx_wishes_init(&wishes);
    PMIx_Info_load(&wish, "wish", "value", PMIX_STRING);
    cr_assert_eq(sx_wishes_add(&wishes, &wish, 1, 1), PMIX_SUCCESS);
    cr_expect_eq(sx_host_fence(&server, &fence, asker, on_told), PMIX_SUCCESS);
    sx_wishes_clear(&wishes);
}

Test(host, is_told_with_a_fence_to_collect_first_and_what_members_wish_last)
{
    struct sx_asker asker;

    server.module.fence_nb = on_fence;
    sx_asker_init(&asker);
    bare_call(&server, fence_now, &asker);
    cr_expect_str_eq(keys, PMIX_COLLECT_DATA " " PMIX_LOCAL_COLLECTIVE_STATUS
                                             " " PMIX_SORTED_PROC_ARRAY " wish ");
    sx_asker_deinit(&asker);
}

static pmix_status_t on_modex(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                              pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    (void)cbfunc, (void)cbdata;
    cr_expect_eq(proc->rank, 5);
    cr_expect_str_eq(info[0].value.data.string, "key");
    keys_note(info, ninfo);
    return PMIX_SUCCESS;
}

static void modex_now(void *anew, uint64_t now_ns)
{
    pmix_proc_t proc;

    (void)now_ns;
    PMIx_Load_procid(&proc, "job", 5);
    cr_expect_eq(sx_host_direct_modex(&server, &proc, "key", *(const bool *)anew, NULL, on_told),
                 PMIX_SUCCESS);
}

Test(host, hears_which_key_is_wanted_and_whether_anew)
{
    bool anew = false;

    server.module.direct_modex = on_modex;
    bare_call(&server, modex_now, &anew);
    cr_expect_str_eq(keys, PMIX_REQUIRED_KEY " ");
    anew = true;
    bare_call(&server, modex_now, &anew);
    cr_expect_str_eq(keys, PMIX_REQUIRED_KEY " " PMIX_GET_REFRESH_CACHE " ");
}
