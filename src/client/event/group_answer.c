/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_answer.c - one message, without a reply: events and the construct's end follow from it. */
#include "client/event/event.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/message/payloads.h"
#include "base/value/flat.h"
#include "base/value/value.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/link/wait.h"
#include "control/message.h"

static const struct {
    pmix_status_t code;
    uint8_t receives; /* SX_HEARS_* */
} asking[] = {
    { PMIX_GROUP_INVITE_ACCEPTED, SX_RECEIVES_ACCEPTED },
    { PMIX_GROUP_INVITE_DECLINED, SX_RECEIVES_DECLINED },
    { PMIX_GROUP_INVITE_FAILED, SX_RECEIVES_LOST },
    { PMIX_GROUP_LEADER_FAILED, SX_RECEIVES_LEADERS },
    { PMIX_GROUP_MEMBER_FAILED, SX_RECEIVES_MEMBERS },
};
static_assert(PMIX_GROUP_MEMBER_FAILED < PMIX_GROUP_INVITE_ACCEPTED, "the last and the first");

bool sx_group_code_asks(pmix_status_t code)
{
    size_t i = 0;

    if (code < PMIX_GROUP_MEMBER_FAILED || code > PMIX_GROUP_INVITE_ACCEPTED) {
        return false; /* most events */
    }
    while (i < SX_COUNT(asking) && asking[i].code != code) {
        i++;
    }
    return i < SX_COUNT(asking);
}

uint8_t sx_group_receives(bool waits)
{
    uint8_t receives = 0;

    if (waits && (sx_process.external || sx_progress_is_own_thread())) {
        return 0;
    }
    for (size_t i = 0; i < SX_COUNT(asking); i++) {
        receives |= sx_handlers_receive(sx_event_handlers(), asking[i].code) ? asking[i].receives
                                                                             : 0;
    }
    return receives;
}

uint8_t sx_group_word(pmix_status_t status, const pmix_info_t results[], size_t nresults)
{
    uint8_t word = status == PMIX_GROUP_CONSTRUCT_ABORT ? SX_GROUP_ABORTS : SX_GROUP_SAYS_NOTHING;

    for (size_t i = 0; i < nresults; i++) {
        const uint8_t one = strcmp(results[i].key, PMIX_GROUP_LEADER) == 0     ? SX_GROUP_LEADS
                            : strcmp(results[i].key, PMIX_GROUP_OPTIONAL) == 0 ? SX_GROUP_GOES_ON
                                                                               : 0;

        if (one > word && sx_value_is_true(&results[i].value)) {
            word = one;
        }
    }
    return word;
}

/* Read one info of the event for the server's question. */
static void question_read(struct sx_group_said *said, const pmix_info_t *info)
{
    if (strcmp(info->key, PMIX_GROUP_ID) == 0 && info->value.type == PMIX_STRING &&
        info->value.data.string != NULL) {
        strncpy(said->group, info->value.data.string, sizeof(said->group) - 1);
    } else if (strcmp(info->key, SX_GROUP_QUESTION) == 0 && info->value.type == PMIX_SIZE) {
        said->question = info->value.data.size;
    }
}

void sx_group_say(struct sx_link *link, const void *infos, size_t size, uint8_t word)
{
    struct sx_group_said said = { .word = word };
    const struct iovec body = { &said, sizeof(said) };
    pmix_info_t *info = NULL;
    size_t ninfo = 0;

    if (sx_flat_infos_decode(infos, size, &info, &ninfo) != PMIX_SUCCESS) {
        return;
    }
    for (size_t i = 0; i < ninfo; i++) {
        question_read(&said, &info[i]);
    }
    PMIX_INFO_FREE(info, ninfo);
    if (said.question != 0) {
        (void)sx_request_notice(link, SX_MSG_GROUP_SAID, 0, &body, 1);
    }
}
