/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* attributes.c - PMIx_Register_attributes. */
#include "server/query/attributes.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/status.h"
#include "server/model/state.h"

struct registration {
    const char *function;
    char **attributes;
};

static pmix_status_t attributes_add(struct sx_server *server, void *arg)
{
    const struct registration *const said = arg;
    struct sx_support_host *const host = &server->support;

    for (size_t i = 0; i < host->count; i++) {
        if (strcmp(host->all[i].function, said->function) == 0) {
            return PMIX_ERR_REPEAT_ATTR_REGISTRATION;
        }
    }
    if (host->count == SX_SUPPORT_HOST_FUNCTIONS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "a host may register the attributes of %u functions: \"%s\" is one more",
                        SX_SUPPORT_HOST_FUNCTIONS_MAX, said->function);
    }
    char *const function = strdup(said->function);
    char **const attributes = PMIx_Argv_copy(said->attributes);

    if (function == NULL || attributes == NULL) {
        free(function);
        PMIx_Argv_free(attributes);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    host->all[host->count].function = function;
    host->all[host->count++].attributes = attributes;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Register_attributes(char *function, char **attrs)
{
    struct registration said = { function, attrs };

    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    return function != NULL && function[0] != '\0' && strlen(function) <= PMIX_MAX_KEYLEN &&
                   attrs != NULL
               ? sx_server_call(sx_server_get(), attributes_add, &said)
               : PMIX_ERR_BAD_PARAM;
}

void sx_attributes_clear(struct sx_server *server)
{
    struct sx_support_host *const host = &server->support;

    while (host->count > 0) {
        host->count--;
        free(host->all[host->count].function);
        PMIx_Argv_free(host->all[host->count].attributes);
    }
}
