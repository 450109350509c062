/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostile.h - clients that keep to the protocol's bounds and want all of the server's time.
 *
 * Each kind floods the server with one sort of message, of the largest size that is permitted, as
 * fast as the server takes them.  The attacker is rank ATTACK_RANK of ATTACK_JOB; whenever the
 * server has dropped it, it waits until the host has admitted it again (hostile_admit). */
#ifndef SX_TESTS_FAULT_HOSTILE_H
#define SX_TESTS_FAULT_HOSTILE_H

#include "attack.h"

struct hostile {
    struct attacker attacker;
    uint32_t id;
    bool lost;       /* the server has ended the connection */
    bool reads;      /* its answers */
    uint64_t rounds; /* done so far */
    uint8_t *body;   /* of the next message */
    size_t size;
    uint8_t *bulk; /* of large ones */
    size_t bulk_size, bulk_changes;
    uint32_t answers; /* taken so far that were for the newest message when they came */
    const struct hostile_kind *kind;
};

struct hostile_kind {
    const char *name;
    void (*begin)(struct hostile *hostile); /* after each HELLO; NULL: nothing to prepare */
    void (*go)(struct hostile *hostile);    /* a few messages */
    bool reads_nothing;
    bool is_answered; /* the server answers its messages; those of a row with a message always */
    bool
        is_dropped; /* it breaks the protocol, leaves, or reads nothing: its connection ends again and again */
    uint64_t (*units)(void); /* the most that one of its messages costs; NULL: a few */
    /* Or, without begin, go and units: one message, again and again, whose body is made once.
     * Return: its size.  @at has room for SX_REQUEST_BYTES_MAX. */
    uint16_t message;
    size_t (*make)(uint8_t *at); /* NULL: it has no body */
    uint64_t more;               /* units beside those of its row in control/message.c */
};

extern const struct hostile_kind hostile_kinds[];
extern const size_t hostile_kind_count;
/* Return: NULL when there is none of that name. */
const struct hostile_kind *hostile_find(const char *name);
#define HOSTILE_FEW_UNITS 60u /* a client's own frames, answers and what else is small */
/* The most that one message of @kind costs. */
uint64_t hostile_units(const struct hostile_kind *kind);

/* A role: be hostile in the way that @kind names until fault_shared->stop; state[ATTACK_RANK] counts
 * the rounds. */
int hostile_role(const char *kind);

/* The answers that the hostile one has taken. */
uint32_t hostile_answers(void);
/* The host: let a dropped one in again. */
void hostile_admit(void);

#endif
