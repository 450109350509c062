/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* monitor.c - rank 0 works, then hangs, and all ranks hear that it is missed: its heartbeats stop,
 * and its file grows no more.
 *
 * Build and run:   cc monitor.c $(pkg-config --cflags --libs pmix) -o monitor
 *                  shmix run -n 4 ./monitor */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#define STEPS 2 /* of work, a second each */

static pmix_proc_t me;
static sem_t no_heartbeat, no_growth;

static void must(pmix_status_t status, const char *what)
{
    if (status < PMIX_SUCCESS) {
        fprintf(stderr, "rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(status));
        exit(1);
    }
}

static void on_missed(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                      size_t ninfo, pmix_info_t *results, size_t nresults,
                      pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_MONITOR_ID)) {
            printf("rank %u: \"%s\" of rank %u shows no life: %s\n", me.rank,
                   info[i].value.data.string, source->rank, PMIx_Error_string(code));
        }
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    sem_post(code == PMIX_MONITOR_FILE_ALERT ? &no_growth : &no_heartbeat);
}

static void monitor_heartbeats(void)
{
    const uint32_t seconds = 1, pardoned = 1;
    pmix_info_t monitor, how[3];

    PMIx_Info_load(&monitor, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL);
    PMIx_Info_load(&how[0], PMIX_MONITOR_HEARTBEAT_TIME, &seconds, PMIX_UINT32);
    PMIx_Info_load(&how[1], PMIX_MONITOR_HEARTBEAT_DROPS, &pardoned, PMIX_UINT32);
    PMIx_Info_load(&how[2], PMIX_MONITOR_ID, "work", PMIX_STRING);
    must(PMIx_Process_monitor(&monitor, PMIX_MONITOR_HEARTBEAT_ALERT, how, 3, NULL, NULL),
         "monitor heartbeats");
    PMIX_INFO_DESTRUCT(&how[2]);
}

static void monitor_file(const char *path)
{
    const uint32_t seconds = 1;
    const bool yes = true;
    pmix_info_t monitor, how[3];

    PMIx_Info_load(&monitor, PMIX_MONITOR_FILE, path, PMIX_STRING);
    PMIx_Info_load(&how[0], PMIX_MONITOR_FILE_SIZE, &yes, PMIX_BOOL);
    PMIx_Info_load(&how[1], PMIX_MONITOR_FILE_CHECK_TIME, &seconds, PMIX_UINT32);
    PMIx_Info_load(&how[2], PMIX_MONITOR_ID, "output", PMIX_STRING);
    must(PMIx_Process_monitor(&monitor, PMIX_MONITOR_FILE_ALERT, how, 3, NULL, NULL),
         "monitor a file");
    PMIX_INFO_DESTRUCT(&how[2]);
    PMIX_INFO_DESTRUCT(&monitor);
}

/* A result is an array of fields. */
static void print_memory(void)
{
    pmix_info_t monitor, *results;
    size_t nresults;

    PMIx_Info_load(&monitor, PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, PMIX_BOOL);
    must(PMIx_Process_monitor(&monitor, PMIX_SUCCESS, NULL, 0, &results, &nresults), "usage");
    for (size_t i = 0; i < nresults; i++) {
        const pmix_data_array_t *const array = results[i].value.data.darray;
        const pmix_info_t *const fields = array->array;
        unsigned rank = 0;

        for (size_t j = 0; j < array->size; j++) {
            if (PMIX_CHECK_KEY(&fields[j], PMIX_PROCID)) {
                rank = fields[j].value.data.proc->rank;
            } else if (PMIX_CHECK_KEY(&fields[j], PMIX_PROC_RSS)) {
                printf("rank %u has %.1f MiB in memory\n", rank, (double)fields[j].value.data.fval);
            }
        }
    }
    PMIX_INFO_FREE(results, nresults);
}

static void work(void)
{
    char path[] = "/tmp/monitor.XXXXXX";
    const int fd = mkstemp(path);

    if (fd < 0) {
        perror(path);
        exit(1);
    }
    monitor_heartbeats();
    monitor_file(path);
    for (int i = 0; i < STEPS; i++) {
        PMIx_Heartbeat();
        if (write(fd, "more\n", 5) != 5) {
            perror(path);
        }
        sleep(1);
    }
    sem_wait(&no_heartbeat); /* it hangs */
    sem_wait(&no_growth);
    print_memory();
    close(fd);
    unlink(path);
}

int main(void)
{
    pmix_status_t codes[] = { PMIX_MONITOR_HEARTBEAT_ALERT, PMIX_MONITOR_FILE_ALERT };

    sem_init(&no_heartbeat, 0, 0);
    sem_init(&no_growth, 0, 0);
    must(PMIx_Init(&me, NULL, 0), "init");
    must(PMIx_Register_event_handler(codes, 2, NULL, 0, on_missed, NULL, NULL), "handler");
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    if (me.rank == 0) {
        work();
    } else {
        sem_wait(&no_heartbeat);
        sem_wait(&no_growth);
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
