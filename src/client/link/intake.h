/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* intake.h - the receivers of what arrives, apart from the answers to calls.
 *
 * The pump (link.c) reads the ring and the socket, and calls the rows of this table with
 * what it finds.  Each function may be NULL.  All of them, except a task's run, are called under
 * the process's lock. */
#ifndef SX_CLIENT_LINK_INTAKE_H
#define SX_CLIENT_LINK_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sx_link;
struct sx_task;

struct sx_intake {
    void (*look)(void);    /* a thread polls for news */
    uint64_t (*due)(void); /* when to poll again without news */
    uint32_t record_kind;  /* of the ring, 0: none ... */
    void (*ring_begin)(struct sx_link *link);
    void (*record)(struct sx_link *link, const void *body, size_t size);
    void (*ring_lapped)(struct sx_link *link); /* ... some were overwritten before they were read */
    void (*ring_end)(struct sx_link *link);    /* ... it has been read to its end */
    /* This many events of this process never reached any receiver. */
    void (*server_lost)(struct sx_link *link, uint64_t count);
    /* A message of the server cannot be read. */
    void (*garbled)(struct sx_link *link, const char *what);
    void (*link_lost)(struct sx_link *link);
    struct sx_task *(*take)(void);  /* the next thing to run, behind the tasks that are queued */
    bool (*waits)(void);            /* there is one */
    uint32_t (*poll_classes)(void); /* of the ring, that a sleeper in poll(2) is to be woken for */
    bool (*poll_waits)(void);       /* there is something that such a sleeper has not read */
};

/* Call @stage of all rows of the process; the rest are its arguments. */
#define SX_INTAKES_TELL(stage, ...)                                                             \
    do {                                                                                        \
        for (const struct sx_intake *const *row_ = sx_process.intakes; *row_ != NULL; row_++) { \
            if ((*row_)->stage != NULL) {                                                       \
                (*row_)->stage(__VA_ARGS__);                                                    \
            }                                                                                   \
        }                                                                                       \
    } while (0)

#endif
