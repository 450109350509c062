/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* unload.c - two ranks that load the library themselves; rank 0 gives it back without a word to it,
 * while a handler of its own is registered, and goes on.
 *
 * usage: unload LIBRARY FILE   (FILE tells rank 1 that the library was given back) */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <pmix.h>

#define CODE (-3701)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool received;

static struct {
    void *handle;
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo);
    pmix_status_t (*finalize)(const pmix_info_t info[], size_t ninfo);
    pmix_status_t (*fence)(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                           size_t ninfo);
    pmix_status_t (*register_handler)(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                      size_t ninfo, pmix_notification_fn_t fn,
                                      pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata);
    pmix_status_t (*notify)(pmix_status_t status, const pmix_proc_t *source,
                            pmix_data_range_t range, const pmix_info_t info[], size_t ninfo,
                            pmix_op_cbfunc_t cbfunc, void *cbdata);
} pmix;

static void must(bool fact, const char *what)
{
    if (!fact) {
        fprintf(stderr, "unload: %s\n", what);
        exit(9);
    }
}

static void *find(const char *name)
{
    void *const found = dlsym(pmix.handle, name);

    must(found != NULL, name);
    return found;
}

static void load(const char *path)
{
    pmix.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    must(pmix.handle != NULL, "the library cannot be loaded");
    *(void **)&pmix.init = find("PMIx_Init");
    *(void **)&pmix.finalize = find("PMIx_Finalize");
    *(void **)&pmix.fence = find("PMIx_Fence");
    *(void **)&pmix.register_handler = find("PMIx_Register_event_handler");
    *(void **)&pmix.notify = find("PMIx_Notify_event");
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    pthread_mutex_lock(&lock);
    received = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

int main(int argc, char **argv)
{
    pmix_status_t code = CODE;
    pmix_proc_t me;

    must(argc == 3, "usage: unload LIBRARY FILE");
    load(argv[1]);
    must(pmix.init(&me, NULL, 0) == PMIX_SUCCESS, "PMIx_Init");
    if (me.rank == 0) {
        must(pmix.register_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0, "a handler");
    }
    must(pmix.fence(NULL, 0, NULL, 0) == PMIX_SUCCESS, "PMIx_Fence");
    if (me.rank == 0) {
        must(dlclose(pmix.handle) == 0, "dlclose");
        must(close(open(argv[2], O_CREAT | O_WRONLY, 0600)) == 0, "the file");
        pthread_mutex_lock(&lock);
        while (!received) {
            pthread_cond_wait(&changed, &lock);
        }
        pthread_mutex_unlock(&lock);
        puts("rank 0 goes on");
        load(argv[1]); /* the same library, in the same state */
    } else {
        while (access(argv[2], F_OK) != 0) {
            usleep(1000);
        }
        must(pmix.notify(CODE, NULL, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL) == PMIX_SUCCESS,
             "PMIx_Notify_event");
    }
    must(pmix.finalize(NULL, 0) == PMIX_SUCCESS, "PMIx_Finalize");
    return 0;
}
