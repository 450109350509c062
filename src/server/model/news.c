/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* news.c - messages in a row, added behind the last and removed before the first. */
#include "server/model/blob.h"

#include <assert.h>
#include <string.h>

#include "base/util.h"

#define NEWS_MIN_BYTES ((size_t)1 << 10)
#define NEWS_KEPT_BYTES ((size_t)1 << 20) /* of pages without messages, for those to come */

/* Make room for @size bytes behind the last message.  Messages are moved to the front only where
 * these are no more bytes than have gone before them.  Return: false when memory is out. */
static bool room_make(struct sx_news *news, size_t size)
{
    const size_t used = news->end - news->begin;
    size_t end, doubled;

    if (!sx_add_size(news->end, size, &end) || !sx_mul_size(end, 2, &doubled)) {
        return false;
    }
    if (end <= news->pages.size) {
        return true;
    }
    if (used <= news->begin && used + size <= news->pages.size) {
        memcpy(news->pages.at, news->pages.at + news->begin, used);
        news->begin = 0;
        news->end = used;
        return true;
    }
    return sx_pages_grow(&news->pages, news->end,
                         doubled < NEWS_MIN_BYTES ? NEWS_MIN_BYTES : doubled);
}

/* Write @word, and make room for @length bytes behind it, whose padding is zeroed.  They do not
 * count yet.  Return: where they go; NULL when memory is out. */
static uint8_t *message_begin(struct sx_news *news, uint64_t word, size_t length)
{
    const size_t padded = (size_t)sx_align_up(length, 8);

    news->copied = 0;
    if (padded < length || !room_make(news, sizeof(word) + padded)) {
        return NULL;
    }
    uint8_t *const at = news->pages.at + news->end;

    memset(at + padded, 0, sizeof(word)); /* the last eight bytes */
    memcpy(at, &word, sizeof(word));
    return at + sizeof(word);
}

/* The message of @length bytes behind the last is one of them now. */
static void message_count(struct sx_news *news, size_t length)
{
    news->end += sizeof(uint64_t) + sx_align_up(length, 8);
}

pmix_status_t sx_news_add(struct sx_news *news, const void *put, size_t size)
{
    uint8_t *const at = message_begin(news, size, size);

    if (at == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(at, put, size);
    message_count(news, size);
    return PMIX_SUCCESS;
}

pmix_status_t sx_news_add_step(struct sx_news *news, struct sx_news_copy *copy, const void *put,
                               size_t size, size_t *left)
{
    const size_t length = sizeof(uint64_t) + (size_t)sx_align_up(size, 8);

    if (news->copied != length || copy->at != sx_news_end(news)) {
        if (message_begin(news, size, size) == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        news->copied = length;
        *copy = (struct sx_news_copy){ .at = sx_news_end(news) };
    }
    const size_t rest = size - copy->copied, some = rest < *left ? rest : *left;

    memcpy(news->pages.at + news->end + sizeof(uint64_t) + copy->copied,
           (const char *)put + copy->copied, some);
    copy->copied += some;
    *left -= some;
    return copy->copied < size ? PMIX_ERR_WOULD_BLOCK : PMIX_SUCCESS;
}

void sx_news_count(struct sx_news *news, const struct sx_news_copy *copy)
{
    if (news->copied > 0 && copy->at == sx_news_end(news)) {
        news->end += news->copied;
        news->copied = 0;
    }
}

/* ---- references ------------------------------------------------------------------------------ */

/* Return: the one in front of the position @at; NULL: it has gone, or there was none. */
static struct sx_news_reference *reference_before(const struct sx_news *news, uint64_t at)
{
    void *const behind = at > news->gone ? news->pages.at + news->begin + (at - news->gone) : NULL;

    return behind != NULL ? (struct sx_news_reference *)behind - 1 : NULL;
}

/* The last reference to @key before the one at the position @at is outdated by that. */
static void outdate(struct sx_news *news, const char *key, uint64_t at)
{
    uint64_t *link = &news->referred;
    struct sx_news_reference *reference;

    while ((reference = reference_before(news, *link)) != NULL &&
           strcmp(reference->key, key) != 0) {
        link = &reference->older;
    }
    if (reference != NULL) {
        reference->newer = at;
        *link = reference->older;
    }
}

pmix_status_t sx_news_refer(struct sx_news *news, const char *key)
{
    const struct sx_news_reference *const last = reference_before(news, news->referred);
    struct sx_news_reference reference = { .newer = 0 };

    if (last != NULL && news->referred == sx_news_end(news) && news->referred > news->sent &&
        strcmp(last->key, key) == 0) {
        return PMIX_SUCCESS; /* nobody has begun to send it */
    }
    uint8_t *const at = message_begin(news, SX_NEWS_REFERENCE, sizeof(reference));

    if (at == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    outdate(news, key, sx_news_end(news));
    reference.older = news->referred;
    memcpy(reference.key, key, strlen(key));
    memcpy(at, &reference, sizeof(reference));
    message_count(news, sizeof(reference));
    news->referred = sx_news_end(news);
    return PMIX_SUCCESS;
}

/* ---- an end ---------------------------------------------------------------------------------- */

void sx_news_arrived(struct sx_news *news, uint64_t sent)
{
    if (sent <= news->gone) {
        return;
    }
    news->begin += (size_t)(sent - news->gone);
    news->gone = sent;
    if (news->begin < news->end || news->copied > 0) {
        const size_t given = sx_pages_give_front(&news->pages, news->begin);

        news->begin -= given;
        news->end -= given;
        return;
    }
    news->begin = news->end = 0;
    if (news->pages.size > NEWS_KEPT_BYTES) {
        sx_pages_free(&news->pages);
    }
}

void sx_news_drop(struct sx_news *news)
{
    news->gone = sx_news_end(news); /* a fence that the host has may have carried them */
    news->begin = news->end = news->copied = 0;
    sx_pages_free(&news->pages);
}
