/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_answer.c - a buffer that grows by one event at a time. */
#include "server/event/event_answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "server/port/reply.h"

#define FIRST_BYTES SX_FRAME_MAX

/* Write an empty list. */
static void begin(struct sx_event_answer *answer)
{
    answer->size = sizeof(struct sx_event_list);
    memset(answer->bytes, 0, answer->size);
}

pmix_status_t sx_event_answer_init(struct sx_event_answer *answer)
{
    *answer = (struct sx_event_answer){ .bytes = malloc(FIRST_BYTES), .capacity = FIRST_BYTES };
    if (answer->bytes == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    begin(answer);
    return PMIX_SUCCESS;
}

void sx_event_answer_deinit(struct sx_event_answer *answer)
{
    free(answer->bytes);
    *answer = SX_EVENT_ANSWER_NULL;
}

/* Return: room for @size more bytes, NULL when memory is out. */
static char *answer_room(struct sx_event_answer *answer, size_t size)
{
    if (size > answer->capacity - answer->size) {
        const size_t capacity = 2 * (answer->capacity + size);
        char *const grown = realloc(answer->bytes, capacity);

        if (grown == NULL) {
            return NULL;
        }
        answer->bytes = grown;
        answer->capacity = capacity;
    }
    answer->size += size;
    return answer->bytes + answer->size - size;
}

/* The bytes that @entry takes in an answer. */
static size_t entry_size(const struct sx_event_entry *entry)
{
    return sizeof(struct sx_event_kept) + (size_t)sx_align_up(entry->block->size, 8);
}

bool sx_event_answer_fits(const struct sx_event_answer *answer, const struct sx_event_entry *entry,
                          size_t bytes_max)
{
    return sx_event_answer_list(answer)->count == 0 ||
           answer->size + entry_size(entry) <= bytes_max;
}

pmix_status_t sx_event_answer_add(struct sx_event_answer *answer,
                                  const struct sx_event_entry *entry, uint64_t lost)
{
    const struct sx_event_kept kept = { .size = entry->block->size, .lost = lost };
    const size_t size = entry_size(entry);
    char *const room = answer_room(answer, size);

    if (room == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    char *const event = room + sizeof(kept);

    memcpy(room, &kept, sizeof(kept));
    memcpy(event, entry->block->bytes, kept.size);
    memcpy(event + offsetof(struct sx_event, number), &entry->number, sizeof(entry->number));
    memset(event + kept.size, 0, size - sizeof(kept) - kept.size);
    sx_event_answer_list(answer)->count++;
    return PMIX_SUCCESS;
}

bool sx_event_answer_send_part(struct sx_client *client, uint32_t id,
                               struct sx_event_answer *answer)
{
    const bool sent = sx_reply_part(client, id, answer->bytes, answer->size);

    if (sent) {
        begin(answer);
    }
    return sent;
}

void sx_event_answer_send(struct sx_server *server, struct sx_client *client, uint32_t id,
                          pmix_status_t rc, struct sx_event_answer *answer)
{
    if (rc == PMIX_SUCCESS) {
        sx_reply_body(server, client, id, rc, answer->bytes, answer->size);
    } else {
        sx_reply(server, client, id, rc, -1);
    }
    sx_event_answer_deinit(answer);
}
