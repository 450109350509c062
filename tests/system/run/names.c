/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* names.c - publishes and looks up, as its arguments say one after the other:
 *
 *   publish KEY VALUE   app KEY VALUE   lookup KEY   wait KEY   unpublish KEY
 *
 * app publishes for as long as its application lives.  Each is a line: the words, the status, and what was found. */
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static pmix_status_t publish(const char *key, const char *value, bool of_app)
{
    const pmix_persistence_t app = PMIX_PERSIST_APP;
    pmix_info_t info[2];
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[0], key, value, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_PERSISTENCE, &app, PMIX_PERSIST);
    rc = PMIx_Publish(info, of_app ? 2 : 1);
    PMIX_INFO_DESTRUCT(&info[0]);
    return rc;
}

static pmix_status_t lookup(const char *key, bool waits, char *text, size_t size)
{
    pmix_pdata_t data;
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_INFO_CONSTRUCT(&info);
    snprintf(data.key, sizeof(data.key), "%s", key);
    PMIx_Info_load(&info, PMIX_WAIT, NULL, PMIX_BOOL);
    rc = PMIx_Lookup(&data, 1, waits ? &info : NULL, waits ? 1 : 0);
    if (rc == PMIX_SUCCESS && data.value.type == PMIX_STRING) {
        snprintf(text, size, "%s of rank %u", data.value.data.string, data.proc.rank);
    }
    PMIX_PDATA_DESTRUCT(&data);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

int main(int argc, char **argv)
{
    pmix_status_t rc = PMIx_Init(NULL, NULL, 0);

    if (rc != PMIX_SUCCESS) {
        printf("PMIx_Init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *const what = argv[i];
        char *const key = argv[i + 1];
        char text[256] = "";

        if ((strcmp(what, "publish") == 0 || strcmp(what, "app") == 0) && i + 2 < argc) {
            rc = publish(key, argv[i + 2], what[0] == 'a');
            i++;
        } else if (strcmp(what, "unpublish") == 0) {
            char *keys[] = { key, NULL };

            rc = PMIx_Unpublish(keys, NULL, 0);
        } else {
            rc = lookup(key, strcmp(what, "wait") == 0, text, sizeof(text));
        }
        printf("%s %s: %s %s\n", what, key, PMIx_Error_string(rc), text);
    }
    PMIx_Finalize(NULL, 0);
    return 0;
}
