/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* window.h - memory of the server, for requests that do not fit in a frame.
 *
 *     NONE --WINDOW_GET--> FREE --a request fills it--> BUSY --answer--> FREE
 *                                                        \--no answer in time--> NONE
 *
 * A process has one window.  One request is in it at a time, and others wait for it.  A body is
 * written in pieces of the window's size.  The server answers each piece, and takes the last one as
 * the request.  If an answer does not arrive, the window is given up, because the server may still
 * read its content. */
#ifndef SX_CLIENT_LINK_WINDOW_H
#define SX_CLIENT_LINK_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <pmix_common.h>

/* Under the process's lock.  The bytes behind fd, and their description here, belong to the request
 * that has the window. */
struct sx_window {
    int fd; /* -1: NONE */
    bool busy;
    uint8_t *map; /* NULL: not mapped */
    size_t map_size;
    size_t written; /* bytes written from the beginning: their memory exists */
};
#define SX_WINDOW_NULL ((struct sx_window){ .fd = -1 })

/* The rest of a body to be sent. */
struct sx_window_rest {
    const struct iovec *iov;
    size_t off; /* in *iov */
    size_t size;
};

/* Check whether @size bytes may be written.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE
 * (logged) when they are over the limit of file size. */
pmix_status_t sx_window_judge(size_t size);
/* Write the next @size bytes of @rest.  Return: PMIX_SUCCESS; as errno says. */
pmix_status_t sx_window_fill(struct sx_window *window, struct sx_window_rest *rest, size_t size);

/* @arg is the window.  Return: false while another request has it. */
bool sx_window_take_locked(void *arg);
void sx_window_free_locked(struct sx_window *window);
void sx_window_forget_locked(struct sx_window *window);
void sx_window_deinit(struct sx_window *window);

#endif
