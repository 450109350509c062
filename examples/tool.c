/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool.c - a tool: find the server of this node's job, say who both are, and hear of an event.
 *
 *   shmix run -n 4 ./program &
 *   ./tool */
#include <stdio.h>
#include <stdlib.h>

#include <pmix_tool.h>

int main(void)
{
    pmix_proc_t self, *servers;
    size_t count;
    pmix_status_t rc = PMIx_tool_init(&self, NULL, 0);

    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "no server to be a tool of: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    rc = PMIx_tool_get_servers(&servers, &count);
    if (rc == PMIX_SUCCESS) {
        printf("this is %s.%u, a tool of %s.%u\n", self.nspace, self.rank, servers->nspace,
               servers->rank);
        free(servers);
    }
    rc = PMIx_Notify_event(PMIX_EXTERNAL_ERR_BASE - 1, &self, PMIX_RANGE_LOCAL, NULL, 0, NULL,
                           NULL);
    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "nobody hears of it: %s\n", PMIx_Error_string(rc));
    }
    PMIx_tool_finalize();
    return rc == PMIX_SUCCESS ? 0 : 1;
}
