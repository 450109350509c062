/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* codec_peer_test.c - packs of every type beside those of the system's own PMIx library.
 *
 * That library is mapped by its path, and only its PMIx_Data_pack and PMIx_Data_unpack are asked:
 * without a target they write and read the packs of its newest encoding. */
#include "gateway/codec.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/value/type.h"
#include "base/value/value.h"
#include "unit/base/samples.h"

#define SEEDS 60

static struct {
    pmix_status_t (*init)(pmix_proc_t *, pmix_info_t *, size_t);
    pmix_status_t (*finalize)(const pmix_info_t *, size_t);
    pmix_status_t (*pack)(const pmix_proc_t *, pmix_data_buffer_t *, void *, int32_t,
                          pmix_data_type_t);
    pmix_status_t (*unpack)(const pmix_proc_t *, pmix_data_buffer_t *, void *, int32_t *,
                            pmix_data_type_t);
} peer;

static const char *const places[] = {
    "/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so.2",
    "/usr/lib/aarch64-linux-gnu/pmix2/lib/libpmix.so.2",
    "/usr/lib64/libpmix.so.2",
};

static void *function(void *library, const char *name)
{
    void *const at = dlsym(library, name);

    cr_assert(at != NULL, "no %s", name);
    return at;
}

/* As a singleton, which has no server. */
static void find_peer(void)
{
    void *library = NULL;

    for (size_t i = 0; i < SX_COUNT(places) && library == NULL; i++) {
        library = access(places[i], R_OK) == 0 ? dlopen(places[i], RTLD_NOW | RTLD_GLOBAL) : NULL;
    }
    if (library == NULL) {
        cr_skip_test("the system has no libpmix.so.2 of its own (Debian: libpmix2)");
    }
    for (char **name = (char *[]){ "PMIX_NAMESPACE", "PMIX_RANK", "PMIX_SERVER_URI4",
                                   "PMIX_SERVER_URI41", "PMIX_SERVER_URI3", NULL };
         *name != NULL; name++) {
        unsetenv(*name);
    }
    *(void **)&peer.init = function(library, "PMIx_Init");
    *(void **)&peer.finalize = function(library, "PMIx_Finalize");
    *(void **)&peer.pack = function(library, "PMIx_Data_pack");
    *(void **)&peer.unpack = function(library, "PMIx_Data_unpack");
    {
        pmix_proc_t me;
        const pmix_status_t rc = peer.init(&me, NULL, 0);

        cr_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_UNREACH, "PMIx_Init: %d", rc);
    }
}

/* Types that both may carry, but that the peer's release writes or reads by itself in a way of its
 * own: it is not asked about them. */
static bool is_compared(pmix_data_type_t type)
{
    return sample_is_element_type(type) && sx_codec_carries(type, SX_WIRE_V41) &&
           type != PMIX_VALUE;
}

union elements {
    max_align_t align;
    char bytes[4096];
};

/* Whether the peer writes the bytes that we write for a pack of @count elements. */
static unsigned compare(pmix_data_type_t type, unsigned seed, int32_t count)
{
    struct sx_wire_writer ours = { .form = { .encoding = SX_WIRE_V41 } };
    const size_t size = sx_type_find(type)->size_bytes;
    pmix_data_buffer_t theirs = { 0 };
    union elements in = { .bytes = { 0 } }, out = { .bytes = { 0 } };
    int32_t room = count;
    pmix_status_t rc;

    cr_assert_leq((size_t)count * size, sizeof(in));
    for (int32_t i = 0; i < count; i++) {
        sample_element(in.bytes + (size_t)i * size, type, seed + (unsigned)i, 1);
    }
    sx_codec_pack(&ours, type, &in, (size_t)count);
    if (ours.failed != PMIX_SUCCESS) {
        sx_elements_destruct(&in, (size_t)count, type);
        sx_wire_writer_deinit(&ours);
        return 0;
    }
    rc = peer.pack(NULL, &theirs, &in, count, type);
    cr_assert_eq(rc, PMIX_SUCCESS, "type %u seed %u: %d", type, seed, rc);
    cr_assert_eq(theirs.bytes_used, ours.size, "%d of type %u seed %u: %zu not %zu", count, type,
                 seed, ours.size, theirs.bytes_used);
    cr_expect_arr_eq(theirs.base_ptr, ours.bytes, ours.size, "%d of type %u seed %u", count, type,
                     seed);
    rc = peer.unpack(NULL, &theirs, &out, &room, type);
    cr_expect_eq(rc, PMIX_SUCCESS, "type %u seed %u: %d", type, seed, rc);
    free(theirs.base_ptr);
    sx_elements_destruct(&in, (size_t)count, type);
    sx_wire_writer_deinit(&ours);
    return (unsigned)count;
}

Test(codec_peer, elements_of_every_type_are_the_bytes_of_the_other_library)
{
    unsigned compared = 0, types = 0;

    find_peer();
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        if (is_compared(type)) {
            types++;
            for (unsigned seed = 0; seed < SEEDS; seed++) {
                compared += compare(type, seed, 1) + compare(type, seed, 3);
            }
        }
    }
    cr_log_info("%u elements of %u types", compared, types);
    cr_expect_gt(types, 45);
    peer.finalize(NULL, 0);
}
