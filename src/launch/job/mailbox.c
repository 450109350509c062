/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* mailbox.c - a queue under a lock, and an eventfd. */
#include "launch/job/mailbox.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch/ask/spawn_request.h"
#include "launch/common/say.h"
#include "launch/stdio/input.h"

static struct {
    pthread_mutex_t lock;
    struct sx_run_news *first, **last; /* under lock */
    int event_fd;
} mailbox = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .last = &mailbox.first,
    .event_fd = -1,
};

void sx_mailbox_init(int event_fd)
{
    mailbox.event_fd = event_fd;
}

void sx_mailbox_wake(void)
{
    const uint64_t one = 1;

    (void)!write(mailbox.event_fd, &one, sizeof(one));
}

/* ---- holders --------------------------------------------------------------------------------- */

void sx_run_job_hold(struct sx_run_job *job)
{
    if (job != NULL) {
        atomic_fetch_add_explicit(&job->holds, 1, memory_order_relaxed); /* see mailbox.h */
    }
}

void sx_run_job_drop(struct sx_run_job *job)
{
    if (job != NULL) {
        /* D-holds -> R-holds (sx_run_upcall_remove): the holder's reads of the job are finished. */
        atomic_fetch_sub_explicit(&job->holds, 1, memory_order_release);
    }
}

/* ---- news ------------------------------------------------------------------------------------ */

void sx_mailbox_post(struct sx_run_news *news)
{
    news->next = NULL;
    pthread_mutex_lock(&mailbox.lock);
    if (news->job != NULL) {
        news->after_loss = news->job->loss_posted;
        news->job->loss_posted = news->after_loss || news->kind == SX_RUN_NEWS_LOST;
    }
    *mailbox.last = news;
    mailbox.last = &news->next;
    pthread_mutex_unlock(&mailbox.lock);
    sx_mailbox_wake();
}

/* Return: the oldest news, or NULL. */
static struct sx_run_news *news_take(void)
{
    pthread_mutex_lock(&mailbox.lock);
    struct sx_run_news *const news = mailbox.first;

    if (news != NULL) {
        mailbox.first = news->next;
        if (mailbox.first == NULL) {
            mailbox.last = &mailbox.first;
        }
        news->next = NULL;
    }
    pthread_mutex_unlock(&mailbox.lock);
    return news;
}

void sx_mailbox_deal(struct sx_run_state *run, const struct sx_mailbox_row rows[SX_RUN_NEWS_KINDS])
{
    struct sx_run_news *news;
    uint64_t count;

    (void)!read(mailbox.event_fd, &count, sizeof(count));
    while ((news = news_take()) != NULL) {
        const struct sx_mailbox_row *const row = &rows[news->kind];

        row->take(run, news);
        if (!row->keeps) {
            sx_run_news_free(news);
        }
    }
}

void sx_run_abort_free(struct sx_run_abort *abort)
{
    sx_run_job_drop(abort->job);
    free(abort);
}

static void news_end(struct sx_run_news *news, bool answer)
{
    struct sx_run_abort *const abort = news->abort;

    if (abort != NULL && --abort->open == 0) {
        if (answer && abort->fn != NULL) {
            abort->fn(PMIX_SUCCESS, abort->arg);
        }
        if (answer && abort->info_fn != NULL) {
            abort->info_fn(PMIX_SUCCESS, NULL, 0, abort->arg, NULL, NULL);
        }
        sx_run_abort_free(abort);
    }
    if (answer && news->request != NULL) {
        sx_run_request_answer(news->request, PMIX_ERR_JOB_CANCELED, NULL);
    }
    sx_run_push_end(news->push, PMIX_ERR_JOB_CANCELED, answer);
    sx_run_request_free(news->request);
    sx_run_job_drop(news->job);
    sx_run_job_drop(news->by);
    free(news->tool);
    free(news->ranks);
    free(news);
}

void sx_run_news_answer(struct sx_run_news *news)
{
    news_end(news, true);
}

void sx_run_news_free(struct sx_run_news *news)
{
    news_end(news, false);
}

void sx_mailbox_answer_all(void)
{
    struct sx_run_news *news;

    while ((news = news_take()) != NULL) {
        sx_run_news_answer(news);
    }
}

void sx_mailbox_deinit(void)
{
    struct sx_run_news *news;

    while ((news = news_take()) != NULL) { /* queued after the last answer */
        sx_run_news_free(news);
    }
}
