/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* puller.c - pull output of processes:
 *            puller [-s NSPACE] [-r RANK | -n COUNT] [-c CHANNELS] [-e ENDS] [-o FILE|-] [-g GO]
 *                   [-h HOLD] [KEY[=NUMBER]]...
 *
 * Written after the Standard alone.  It is a tool, or a rank if it was started as one, and pulls
 * the stdout, or other CHANNELS, of all processes of its own job, or of NSPACE; of one RANK, or of
 * the first COUNT.  What comes goes into FILE; it makes the file GO once it has the pull.
 * In its first callback it makes HOLD.held, and waits until there is HOLD.  KEY is a directive of
 * the pull, true or a number.  When so many streams have ended it says how much has come in how
 * many callbacks, and how much it was told to have lost, on its stdout, or on its stderr if that is
 * where FILE is. */
#include <fcntl.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_tool.h>

static FILE *out;
static const char *hold;
static sem_t ended;
static size_t size, calls;
static uint64_t lost;

static void touch(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    if (fd >= 0) {
        close(fd);
    }
}

static void on_output(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *payload, pmix_info_t *info, size_t ninfo)
{
    if (ninfo > 0 && strcmp(info[0].key, "shmix.iof.lost") == 0) {
        lost += info[0].value.data.uint64;
    }
    if (payload->size == 0) {
        sem_post(&ended);
        return;
    }
    calls++;
    size += payload->size;
    if (calls == 1 && hold != NULL) {
        char held[4096];

        snprintf(held, sizeof(held), "%s.held", hold);
        touch(held);
        while (access(hold, F_OK) != 0) {
            usleep(10000);
        }
    }
    fwrite(payload->bytes, 1, payload->size, out);
    fflush(out); /* who looks at the file sees how far it is */
}

static void load(pmix_info_t *info, char *word)
{
    char *const value = strchr(word, '=');

    if (value == NULL) {
        PMIX_INFO_LOAD(info, word, NULL, PMIX_BOOL);
    } else {
        const uint32_t number = (uint32_t)atoi(value + 1);

        *value = '\0';
        PMIX_INFO_LOAD(info, word, &number, PMIX_UINT32);
    }
}

int main(int argc, char **argv)
{
    const char *nspace = NULL, *go = NULL, *file = "/dev/null";
    pmix_rank_t rank = PMIX_RANK_WILDCARD;
    pmix_iof_channel_t channels = PMIX_FWD_STDOUT_CHANNEL;
    pmix_info_t info[8];
    pmix_proc_t me, of[64];
    pmix_status_t rc;
    size_t ninfo = 0, count = 0;
    FILE *words = stdout;
    int option, ends = 1;

    while ((option = getopt(argc, argv, "s:r:n:c:e:o:g:h:")) != -1) {
        switch (option) {
        case 'n':
            count = (size_t)atoi(optarg);
            break;
        case 'c':
            channels = (pmix_iof_channel_t)atoi(optarg);
            break;
        case 's':
            nspace = optarg;
            break;
        case 'r':
            rank = (pmix_rank_t)atoi(optarg);
            break;
        case 'e':
            ends = atoi(optarg);
            break;
        case 'o':
            file = optarg;
            break;
        case 'g':
            go = optarg;
            break;
        case 'h':
            hold = optarg;
            break;
        default:
            return 2;
        }
    }
    for (; optind < argc && ninfo < sizeof(info) / sizeof(info[0]); optind++) {
        load(&info[ninfo++], argv[optind]);
    }
    if (strcmp(file, "-") == 0) {
        out = stdout;
        words = stderr;
    } else {
        out = fopen(file, "w");
    }
    if (out == NULL || count > sizeof(of) / sizeof(of[0]) || sem_init(&ended, 0, 0) != 0) {
        return 1;
    }
    rc = getenv("PMIX_NAMESPACE") != NULL ? PMIx_Init(&me, NULL, 0) : PMIx_tool_init(&me, NULL, 0);
    if (rc != PMIX_SUCCESS) {
        fprintf(words, "init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    PMIX_LOAD_PROCID(&of[0], nspace != NULL ? nspace : me.nspace, count > 0 ? 0 : rank);
    for (size_t i = 1; i < count; i++) {
        PMIX_LOAD_PROCID(&of[i], of[0].nspace, (pmix_rank_t)i);
    }
    rc = PMIx_IOF_pull(of, count > 0 ? count : 1, info, ninfo, channels, on_output, NULL, NULL);
    fprintf(words, "pull: %s\n", rc > 0 ? "PMIX_SUCCESS" : PMIx_Error_string(rc));
    fflush(words);
    if (go != NULL) {
        touch(go);
    }
    for (; rc > 0 && ends > 0; ends--) {
        while (sem_wait(&ended) != 0) {
        }
    }
    if (rc > 0) {
        PMIx_IOF_deregister((size_t)rc, NULL, 0, NULL, NULL);
    }
    fflush(out);
    if (lost > 0) {
        fprintf(words, "lost: %llu\n", (unsigned long long)lost);
    }
    fprintf(words, "%zu bytes in %zu callbacks\n", size, calls);
    fflush(words);
    if (getenv("PMIX_NAMESPACE") != NULL) {
        PMIx_Finalize(NULL, 0);
    } else {
        PMIx_tool_finalize();
    }
    return 0;
}
