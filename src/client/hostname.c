/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostname.c - who knows the name of this node: the server, in its process, or what it has told. */
#include "client/hostname.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/role.h"
#include "base/value.h"
#include "client/client.h"

void sx_hostname(char *ret, size_t size)
{
    const struct sx_role_server *const server = sx_role_server_get();
    const pmix_info_t only_here = { .key = PMIX_OPTIONAL, .value.type = PMIX_UNDEF };
    pmix_value_t *told = NULL;

    snprintf(ret, size, "localhost");
    if (server != NULL) {
        server->hostname(ret, size);
    } else if (sx_process_ready() && PMIx_Get(&sx_process.self, PMIX_HOSTNAME, &only_here, 1,
                                              &told) == PMIX_SUCCESS) {
        if (told->type == PMIX_STRING && told->data.string != NULL) {
            snprintf(ret, size, "%s", told->data.string);
        }
        sx_value_destruct(told);
        free(told);
    } else {
        (void)gethostname(ret, size - 1);
        ret[size - 1] = '\0';
    }
}
