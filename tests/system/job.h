/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job.h - a host and its job in one test: a server in this process, the ranks in others.
 *
 * A test program has a table of cases.  Run without arguments it plays the host for each case: it
 * starts the server, registers a job, and starts itself again as every rank, with the environment
 * that PMIx_server_setup_fork gives.  Only the public API is used on both sides.
 *
 * A rank that is not done within JOB_SECONDS is killed and the case fails with a line, a host soon
 * after that; nothing else depends on time.  Ranks end with their host, stopped ones too. */
#ifndef SX_TESTS_SYSTEM_JOB_H
#define SX_TESTS_SYSTEM_JOB_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include <pmix.h>
#include <pmix_server.h>

#define JOB_NSPACE "test.job"
#define JOB_RANKS_MAX 256
#define JOB_SECONDS 120

/* A rank that cannot do its case here says why and exits with this; so does the program when none of
 * its cases could be done.  A line "SKIP name" tells of each (tests/skipped.awk). */
#define JOB_SKIPPED 77

struct job_case;

struct job {
    const struct job_case *it;
    int size;
    pid_t pids[JOB_RANKS_MAX];
    int status[JOB_RANKS_MAX]; /* as waitpid gives it, -1 before */
    int lives[JOB_RANKS_MAX];  /* processes that were started */
};

struct job_case {
    const char *name;
    int size;              /* ranks */
    int (*rank)(int rank); /* in the rank's process: its exit code */
    /* In the host, while the ranks run; NULL: nothing to do.  Return: 0 when all was well. */
    int (*host)(struct job *job);
    bool host_judges; /* ranks may fail: the host function says whether that is right */
};

/* The host's entries, none at first; whoever wants some fills them in before job_main. */
extern pmix_server_module_t job_module;

/* main() of a test program: as it is, or for one that prepares something first. */
#define JOB_MAIN(cases)                                                         \
    int main(int argc, char **argv)                                             \
    {                                                                           \
        return job_main(argc, argv, (cases), sizeof(cases) / sizeof(*(cases))); \
    }
int job_main(int argc, char **argv, const struct job_case *cases, size_t count);

/* In a rank: its PMIx_Init and its PMIx_Finalize, which succeed.  @ret_me may be NULL.
 * Return: 0, the rank's exit code. */
void rank_begin(pmix_proc_t *ret_me);
int rank_end(void);
/* ... and a fence of its job. */
void rank_fence(void);

pmix_proc_t proc_of(const char *nspace, pmix_rank_t rank);
void job_sem_wait(sem_t *sem); /* through signals */

/* Infos, whose values are copied. */
pmix_info_t info_flag(const char *key); /* true */
pmix_info_t info_text(const char *key, const char *text);
pmix_info_t info_u32(const char *key, uint32_t number);

/* In a host function: wait until @rank ends.  Return: its status. */
int job_wait(struct job *job, int rank);

/* In a host function: start @rank again, which has ended, without another word to the server.  The
 * rank finds how often that was done in job_life. */
void job_restart(struct job *job, int rank);
extern int job_life; /* 0: the first process of its rank */

/* The session that the jobs registered from here on are of; -1: of none. */
extern int job_session;
/* How many processes the jobs registered from here on have on other nodes. */
extern int job_elsewhere;
/* One more thing that the jobs registered from here on are told; NULL: nothing. */
extern const pmix_info_t *job_notified;

/* In a host function: register another namespace and start @count ranks of it; in their processes
 * the case's rank function gets the numbers behind those that are there. */
void job_add(struct job *job, const char *nspace, int count);

/* A token that passes between the processes of a case without the library under test. */
#define JOB_PIPES 4
void job_token_put(int pipe_index);
void job_token_get(int pipe_index);

#define CHECK(fact)                                                    \
    do {                                                               \
        if (!(fact)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #fact); \
            exit(99);                                                  \
        }                                                              \
    } while (0)

#define CHECK_STATUS(got, want)                                                               \
    do {                                                                                      \
        const pmix_status_t got_ = (got);                                                     \
        if (got_ != (want)) {                                                                 \
            fprintf(stderr, "%s:%d: %s is %d (%s), not %s\n", __FILE__, __LINE__, #got, got_, \
                    PMIx_Error_string(got_), #want);                                          \
            exit(99);                                                                         \
        }                                                                                     \
    } while (0)

#endif
