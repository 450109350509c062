/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign_nspace.c - find a namespace's store among all memfds that are open on the node.
 *
 * Any process can give a memfd any name.  A memfd of this user can do no more harm than its maker
 * could do anyway.  Memfds of other users are skipped, even by root, which could see them. */
#include "client/data/foreign_nspace.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shmem/segment.h"

struct search {
    const char *nspace;
    struct sx_store store;
    bool found;
};

static bool store_take(void *arg, pid_t pid, int fd)
{
    struct search *const search = arg;
    struct stat st;

    (void)pid;
    if (fstat(fd, &st) != 0 || st.st_uid != geteuid() ||
        sx_store_attach(&search->store, fd) != PMIX_SUCCESS) {
        return true;
    }
    search->found = strncmp(sx_segment_header(&search->store.seg)->nspace, search->nspace,
                            SX_SEGMENT_NSPACE_BYTES) == 0 &&
                    sx_store_successor(&search->store) == 0;
    if (!search->found) {
        sx_store_detach(&search->store);
    }
    return !search->found;
}

bool sx_stranger_find(const char *nspace, struct sx_store *ret_store)
{
    struct search search = { .nspace = nspace, .store = SX_STORE_NULL };

    (void)sx_outside_each(0, "store:", store_take, &search, NULL);
    if (search.found) {
        *ret_store = search.store;
    }
    return search.found;
}
