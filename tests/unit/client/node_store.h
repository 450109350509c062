/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* node_store.h - the store of a node that the test writes, and its process reads. */
#ifndef SX_TEST_NODE_STORE_H
#define SX_TEST_NODE_STORE_H

#include <stdlib.h>
#include <unistd.h>

#include "client/data/view.h"

/* Enter a list of these processes; of @head the fields above name_off count. */
static inline void node_store_put(struct sx_store_writer *writer,
                                  const struct sx_membership_head *head, const char *name,
                                  const pmix_proc_t *procs, size_t count)
{
    size_t size;
    void *bytes;

    cr_assert_eq(sx_membership_encode(head, name, procs, count, &bytes, &size), PMIX_SUCCESS);
    cr_assert_eq(sx_membership_publish(writer, bytes, size), PMIX_SUCCESS);
    cr_assert_eq(sx_membership_enter(writer, sx_membership_realm(head->kind), head->subject, name),
                 PMIX_SUCCESS);
    free(bytes);
}

/* What the server would have sent. */
static inline void node_store_map(const struct sx_store_writer *writer)
{
    struct sx_store store;
    struct sx_view *view;
    int fd;

    cr_assert_eq(sx_segment_share(&writer->view.seg, &fd), PMIX_SUCCESS);
    cr_assert_eq(sx_store_attach(&store, fd), PMIX_SUCCESS);
    close(fd);
    cr_assert_eq(sx_view_obtain("", &view), PMIX_SUCCESS);
    cr_assert_eq(sx_view_adopt(view, &store), PMIX_SUCCESS);
}

#endif
