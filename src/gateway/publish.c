/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish.c - PUBLISHNB, LOOKUPNB and UNPUBLISHNB.
 *
 * Each request begins with the effective user id of the rank.  It is the rank's own word and is not
 * used: our server has the kernel's. */
#include <stdlib.h>
#include <string.h>

#include "gateway/request.h"

/* UINT32 euid, infos. */
pmix_status_t sx_gateway_publish(struct sx_request *request, struct sx_wire_reader *body)
{
    (void)sx_codec_get_u32(body, PMIX_UINT32);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return sx_request_called(request, PMIx_Publish_nb(request->infos.at, request->infos.count,
                                                      sx_request_on_status, request));
}

/* SIZE n and n STRING packs: request->array becomes a vector that ends with NULL.  Return: the
 * vector, or NULL for no keys. */
static char **get_keys(struct sx_request *request, struct sx_wire_reader *body)
{
    const size_t count = sx_wire_count_check(body, sx_codec_get_size(body), 1);

    if (body->failed != PMIX_SUCCESS || count == 0) {
        return NULL;
    }
    char **const keys = calloc(count + 1, sizeof(*keys));

    if (keys == NULL) {
        sx_wire_fail(body, PMIX_ERR_OUT_OF_RESOURCE);
        return NULL;
    }
    request->array.at = keys;
    request->array.count = count;
    request->array.type = PMIX_STRING;
    for (size_t i = 0; i < count && body->failed == PMIX_SUCCESS; i++) {
        if (sx_codec_unpack(body, PMIX_STRING, &keys[i], 1) && keys[i] == NULL) {
            sx_wire_fail(body, PMIX_ERR_UNPACK_FAILURE); /* it would end the vector early */
        }
    }
    return keys;
}

/* UINT32 euid, keys, infos. */
static pmix_status_t get_keys_and_infos(struct sx_request *request, struct sx_wire_reader *body,
                                        char ***ret_keys)
{
    (void)sx_codec_get_u32(body, PMIX_UINT32);
    *ret_keys = get_keys(request, body);
    request->infos = sx_codec_get_infos(body);
    return body->failed;
}

static void on_found(pmix_status_t status, pmix_pdata_t *data, size_t count, void *cbdata)
{
    struct sx_request *const request = cbdata;
    struct sx_wire_writer body = sx_request_body(request, status);

    if (data != NULL && count > 0) {
        sx_codec_put_array(&body, PMIX_PDATA, data, count);
    } else {
        sx_codec_put_size(&body, 0);
    }
    sx_request_answer_body(request, &body);
}

pmix_status_t sx_gateway_lookup(struct sx_request *request, struct sx_wire_reader *body)
{
    char **keys;
    const pmix_status_t rc = get_keys_and_infos(request, body, &keys);

    return rc == PMIX_SUCCESS
               ? PMIx_Lookup_nb(keys, request->infos.at, request->infos.count, on_found, request)
               : rc;
}

/* Without keys: all of the rank. */
pmix_status_t sx_gateway_unpublish(struct sx_request *request, struct sx_wire_reader *body)
{
    char **keys;
    const pmix_status_t rc = get_keys_and_infos(request, body, &keys);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return sx_request_called(request,
                             PMIx_Unpublish_nb(keys, request->infos.at, request->infos.count,
                                               sx_request_on_status, request));
}
