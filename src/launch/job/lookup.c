/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lookup.c - what a spawn names is looked up by a process of its own.
 *
 *   WAITING --its asker's turn--> WRITING --in steps--> LOOKING --the answer--> FOUND --in steps-->
 *            a job, or refused                             \--the time limit: refused--> LOST
 *
 * A request names programs, folders and files, and the file system that has them may hang, or need
 * seconds for each name.  So the launcher opens none of them.  A process (launch/job/looker.h) gets
 * a copy of the request, judges it as a whole, and sends the programs that it has found.  The
 * launcher's thread then makes the job, with a bound on the time in one turn.
 *
 * An asker is a job of the command line with all that it has spawned, or the tools.  It has one
 * look-up at a time, and its requests are served in their order.  So a file system that hangs
 * costs its own asker its spawns, and nobody else anything.  A look-up that the kernel does not let
 * die is LOST: further requests of its asker are refused until it has gone.  The requests of a job
 * that ends, or has ended, and of a tool that has gone, are refused at once, and their look-up is
 * killed. */
#include "launch/job/state.h"

#include <errno.h>
#include <pmix.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/say.h"
#include "launch/job/looker.h"
#include "launch/job/session.h"
#include "launch/place/program.h"

#define TIME_NS (30 * SX_NS_PER_SEC) /* of one look-up */
#define KILL_NS SX_NS_PER_SEC        /* then it is LOST for good */
#define STEPS_NS (2 * SX_NS_PER_MS)  /* in one turn of the loop, for all askers */
#define READ_BYTES 65536             /* in one turn, of one answer */

/* A request, from its arrival until it is a job. */
struct sx_run_lookup {
    struct sx_run_lookup *next;
    struct sx_run_request *request, *apart; /* apart: is spawned next, or NULL */
    struct sx_run_job *parent, *with;       /* held; NULL: none */
    struct sx_run_program *programs;        /* those that have been made ... */
    uint32_t made;                          /* ... are so many */
};

enum asker_state { WAITING, WRITING, LOOKING, FOUND, LOST };

struct sx_run_asker {
    struct sx_run_asker *next;
    struct sx_run_state *run;
    char *name;                         /* of the first job; "": tools */
    struct sx_run_lookup *first, *last; /* the first one is the one that the state is about */
    enum asker_state state;
    bool stuck;                 /* if LOST: it has had the time to die */
    struct sx_look_order order; /* its number also if LOOKING or LOST */
    struct sx_poll answer;      /* if LOOKING or LOST; else its fd is -1 */
    struct sx_timer limit;
    char *bytes;
    size_t used, room, taken; /* of the answer; taken: as far as it has become programs */
};

/* ---- the queue of an asker ------------------------------------------------------------------- */

static void lookup_free(struct sx_run_lookup *lookup)
{
    if (lookup->with != NULL) {
        lookup->with->held = false;
    }
    if (lookup->request != NULL) {
        for (uint32_t i = 0; lookup->programs != NULL && i < lookup->made; i++) {
            sx_run_program_deinit(&lookup->programs[i]);
        }
        free(lookup->programs);
    }
    sx_run_request_free(lookup->request);
    sx_run_request_free(lookup->apart);
    sx_run_job_drop(lookup->parent);
    sx_run_job_drop(lookup->with);
    free(lookup);
}

static void answer_close(struct sx_run_asker *asker)
{
    const int fd = asker->answer.fd;

    if (fd >= 0) {
        sx_run_unwatch(&asker->answer);
        close(fd);
    }
}

static void answer_drop(struct sx_run_asker *asker)
{
    free(asker->bytes);
    asker->bytes = NULL;
    asker->used = asker->room = asker->taken = 0;
    sx_look_order_drop(&asker->order);
}

/* Take the first request of @asker, which is dealt with, out of the queue. */
static struct sx_run_lookup *first_take(struct sx_run_asker *asker)
{
    struct sx_run_lookup *const lookup = asker->first;

    asker->first = lookup->next;
    if (asker->first == NULL) {
        asker->last = NULL;
    }
    answer_drop(asker);
    return lookup;
}

static void lookup_refuse(struct sx_run_state *run, struct sx_run_lookup *lookup,
                          pmix_status_t status, const char *message)
{
    sx_run_child_refuse(run, lookup->request, status, message);
    if (lookup->with != NULL) {
        sx_run_child_alone(lookup->with);
    }
    lookup_free(lookup);
}

static void first_refuse(struct sx_run_asker *asker, pmix_status_t status, const char *message)
{
    lookup_refuse(asker->run, first_take(asker), status, message);
}

static void all_refuse(struct sx_run_asker *asker)
{
    while (asker->first != NULL) {
        first_refuse(asker, PMIX_ERR_TIMEOUT,
                     "a spawn before it has named a file of a file system that does not answer");
    }
}

/* ---- looking --------------------------------------------------------------------------------- */

static void stuck_due(void *arg, uint64_t now_ns)
{
    struct sx_run_asker *const asker = arg;

    (void)now_ns;
    asker->stuck = true;
    all_refuse(asker);
    (void)sx_looker_check(&asker->run->looker); /* it may have been stopped since */
}

static void look_end(struct sx_run_asker *asker)
{
    sx_looker_end(&asker->run->looker, asker->order.number);
    asker->state = LOST;
    sx_run_after(&asker->run->loop, &asker->limit, KILL_NS, stuck_due, asker);
}

static void limit_due(void *arg, uint64_t now_ns)
{
    struct sx_run_asker *const asker = arg;

    (void)now_ns;
    look_end(asker);
    first_refuse(asker, PMIX_ERR_TIMEOUT,
                 sx_looker_check(&asker->run->looker)
                     ? "its programs, folders and files have not been found in time: the process "
                       "that looks for them (" SX_LOOKER_NAME
                       ") was stopped, and another one takes its place"
                     : "its programs, folders and files have not been found in time: a file system "
                       "does not answer, or there are too many");
}

/* The time that the spawn gives its start, if that is shorter. */
static uint64_t limit_of(const struct sx_run_request *request)
{
    const uint64_t said_ns = request->said.spawn_timeout_ns != 0 ? request->said.spawn_timeout_ns
                                                                 : request->said.timeout_ns;

    return said_ns != 0 && said_ns < TIME_NS ? said_ns : TIME_NS;
}

/* The answer is whole, or the process has ended before. */
static void answer_judge(struct sx_run_asker *asker)
{
    struct sx_run_request *const request = asker->first->request;
    struct sx_look_answer answer;

    sx_timer_remove(&asker->limit);
    answer_close(asker);
    asker->state = WAITING;
    if (asker->used < sizeof(answer)) {
        first_refuse(asker, PMIX_ERR_TIMEOUT,
                     "the process that looks for its programs, folders and files has been ended; "
                     "it has 10 s of CPU time");
        return;
    }
    memcpy(&answer, asker->bytes, sizeof(answer));
    if (answer.status != PMIX_SUCCESS) {
        first_refuse(asker, answer.status, answer.message);
        return;
    }
    request->target_count = answer.target_count;
    request->beside_count = answer.beside_count;
    asker->taken = sizeof(answer);
    asker->state = FOUND;
}

/* The process that was to end has ended. */
static void lost_over(struct sx_run_asker *asker)
{
    sx_timer_remove(&asker->limit);
    answer_close(asker);
    asker->stuck = false;
    asker->state = WAITING;
}

static void answer_read(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_run_asker *const asker = arg;

    (void)revents;
    (void)now_ns;
    if (asker->room - asker->used < READ_BYTES) {
        asker->room = 2 * asker->room + READ_BYTES;
        asker->bytes = sx_cli_realloc(asker->bytes, asker->room, 1);
    }
    const ssize_t got = read(asker->answer.fd, asker->bytes + asker->used, READ_BYTES);

    if (got > 0) {
        asker->used += asker->state == LOST ? 0 : (size_t)got;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        asker->state == LOST ? lost_over(asker) : answer_judge(asker);
    }
}

/* Return: 0 or errno. */
static int write_begin(struct sx_run_asker *asker)
{
    const struct sx_run_lookup *const lookup = asker->first;
    const struct sx_run_state *const run = asker->run;
    struct sx_look_scene scene = { .lib_dir = run->setup->lib_dir,
                                   .dir = run->setup->session->dir,
                                   .env = sx_run_child_outer(lookup->request, lookup->parent),
                                   .jobs = sx_cli_calloc(run->jobs->count + 1,
                                                         sizeof(*scene.jobs)) };

    for (uint32_t i = 0; i < run->jobs->count; i++) {
        const struct sx_run_job *const job = run->jobs->at[i];

        if (job->state != SX_RUN_OVER) {
            PMIx_Load_procid(&scene.jobs[scene.job_count++], job->nspace, job->rank_count);
        }
    }
    const int why = sx_look_order_begin(&asker->order, &scene, lookup->request);

    free(scene.jobs);
    asker->state = WRITING;
    return why;
}

/* Return: 0 or errno. */
static int write_step(struct sx_run_asker *asker)
{
    const struct sx_run_request *const request = asker->first->request;
    int fd, why = sx_look_order_step(&asker->order, request);

    if (why != 0 || asker->order.apps < request->napps) {
        return why;
    }
    asker->order.number = ++asker->run->look_orders;
    why = sx_looker_give(&asker->run->looker, &asker->order, &fd);
    sx_look_order_drop(&asker->order);
    if (why == 0) {
        asker->state = LOOKING;
        asker->answer = (struct sx_poll){ .fd = fd, .fn = answer_read, .arg = asker };
        sx_run_after(&asker->run->loop, &asker->limit, limit_of(request), limit_due, asker);
        why = sx_run_watch(&asker->run->loop, &asker->answer, POLLIN);
    }
    return why;
}

/* ---- making the job -------------------------------------------------------------------------- */

/* The next application of the answer.  Return: false if the answer ends before. */
static bool app_take(struct sx_run_asker *asker, struct sx_look_app *ret_app, const char **ret_path)
{
    const size_t left = asker->used - asker->taken;

    if (left < sizeof(*ret_app)) {
        return false;
    }
    memcpy(ret_app, asker->bytes + asker->taken, sizeof(*ret_app));
    *ret_path = asker->bytes + asker->taken + sizeof(*ret_app);
    if (ret_app->path_bytes == 0 || ret_app->path_bytes > left - sizeof(*ret_app) ||
        (*ret_path)[ret_app->path_bytes - 1] != '\0') {
        return false;
    }
    asker->taken += sizeof(*ret_app) + ret_app->path_bytes;
    return true;
}

/* The first request of @asker is a job now, or has been refused: @job NULL. */
static void job_made(struct sx_run_asker *asker, struct sx_run_job *job)
{
    struct sx_run_lookup *const lookup = asker->first;

    lookup->request = NULL; /* the job's, or free */
    lookup->programs = NULL;
    if (lookup->with != NULL && job == NULL) {
        sx_run_child_alone(lookup->with);
    } else if (lookup->apart != NULL && job != NULL) {
        /* It is the next one of its asker. */
        struct sx_run_lookup *const next = sx_cli_calloc(1, sizeof(*next));

        if (job->state != SX_RUN_OVER) { /* a spawn that was not to be started */
            sx_run_request_look_at(lookup->apart, job->nspace);
        }
        job->held = true;
        sx_run_job_hold(job);
        sx_run_job_hold(lookup->parent);
        *next = (struct sx_run_lookup){
            .next = lookup->next, .request = lookup->apart, .parent = lookup->parent, .with = job
        };
        lookup->apart = NULL;
        lookup->next = next;
        asker->last = asker->last == lookup ? next : asker->last;
    }
    asker->state = WAITING;
    lookup_free(first_take(asker));
}

/* One step of the first request of @asker, which has been found. */
static void found_step(struct sx_run_asker *asker)
{
    struct sx_run_lookup *const lookup = asker->first;
    struct sx_run_request *const request = lookup->request;
    char message[SX_RUN_MESSAGE_MAX] = "";
    pmix_status_t rc = PMIX_SUCCESS;

    if (lookup->programs == NULL) {
        rc = sx_run_child_judge(asker->run, request, lookup->parent, message);
        rc = rc == PMIX_SUCCESS ? sx_run_child_room(asker->run, request, lookup->parent, message)
                                : rc;
        lookup->programs = sx_cli_calloc(request->options.app_count + 1,
                                         sizeof(struct sx_run_program));
    } else if (lookup->made < request->options.app_count) {
        struct sx_look_app app;
        const char *path = NULL;

        if (app_take(asker, &app, &path)) {
            struct sx_run_program *const program = &lookup->programs[lookup->made];

            sx_run_program_set(program, &request->options.apps[lookup->made], path, &app.image,
                               app.searched != 0);
            rc = sx_run_child_env(asker->run, request, lookup->parent, lookup->made++,
                                  &program->env, message);
        } else {
            rc = PMIX_ERR_TIMEOUT;
            snprintf(message, sizeof(message),
                     "the process that looks for its programs has been ended; it has %d s of CPU "
                     "time",
                     SX_LOOKER_CPU_SECONDS);
        }
    } else {
        job_made(asker, sx_run_child_make(asker->run, request, lookup->parent, lookup->programs));
        return;
    }
    if (rc != PMIX_SUCCESS) {
        asker->state = WAITING;
        first_refuse(asker, rc, message);
    }
}

/* ---- the turn -------------------------------------------------------------------------------- */

static bool is_due(const struct sx_run_asker *asker)
{
    return asker->first != NULL && asker->state != LOOKING && asker->state != LOST;
}

bool sx_run_lookups_are_due(const struct sx_run_state *run)
{
    for (const struct sx_run_asker *asker = run->askers; asker != NULL; asker = asker->next) {
        if (is_due(asker)) {
            return true;
        }
    }
    return false;
}

static void asker_step(struct sx_run_asker *asker)
{
    if (asker->state == FOUND) {
        found_step(asker);
        return;
    }
    char message[SX_RUN_MESSAGE_MAX];
    const pmix_status_t rc = asker->state == WAITING
                                 ? sx_run_child_room(asker->run, asker->first->request,
                                                     asker->first->parent, message)
                                 : PMIX_SUCCESS;

    if (rc != PMIX_SUCCESS) {
        first_refuse(asker, rc, message);
        return;
    }
    const int why = asker->state == WAITING ? write_begin(asker) : write_step(asker);

    if (why != 0) {
        sx_looker_fault(why, message);
        asker->state = WAITING;
        first_refuse(asker, PMIX_ERR_JOB_SYS_OP_FAILED, message);
    }
}

/* Each asker in turn: who was served goes to the end. */
void sx_run_lookups_step(struct sx_run_state *run)
{
    const uint64_t until_ns = sx_now_ns() + STEPS_NS;

    while (sx_run_lookups_are_due(run)) {
        struct sx_run_asker **at = &run->askers, *asker;

        while (!is_due(*at)) {
            at = &(*at)->next;
        }
        asker = *at;
        *at = asker->next;
        while (*at != NULL) {
            at = &(*at)->next;
        }
        *at = asker;
        asker->next = NULL;
        asker_step(asker);
        if (sx_now_ns() >= until_ns) {
            break;
        }
    }
}

/* ---- jobs that end, and tools --------------------------------------------------------------- */

static bool is_ending(const struct sx_run_job *parent)
{
    return parent != NULL && (parent->caused || parent->state == SX_RUN_OVER);
}

/* Return: why @lookup is not made any more, or NULL.  @tool has gone; NULL: none. */
static const char *why_dropped(const struct sx_run_lookup *lookup, const pmix_proc_t *tool)
{
    if (is_ending(lookup->parent)) {
        return "the job that asks for it is ending";
    }
    return tool != NULL && lookup->parent == NULL &&
                   PMIx_Check_procid(&lookup->request->parent, tool)
               ? "the tool that asks for it has gone"
               : NULL;
}

/* Refuse the requests of @asker whose job is ending, and those of @tool (NULL: none). */
static void asker_drop(struct sx_run_asker *asker, const pmix_proc_t *tool)
{
    struct sx_run_lookup **at = &asker->first;

    if (asker->first != NULL && why_dropped(asker->first, tool) != NULL) {
        if (asker->state == LOOKING) {
            look_end(asker);
        } else if (asker->state != LOST) {
            asker->state = WAITING;
        }
        answer_drop(asker);
    }
    asker->last = NULL;
    while (*at != NULL) {
        struct sx_run_lookup *const lookup = *at;
        const char *const why = why_dropped(lookup, tool);

        if (why != NULL) {
            *at = lookup->next;
            lookup_refuse(asker->run, lookup, PMIX_ERR_JOB_CANCELED, why);
        } else {
            asker->last = lookup;
            at = &lookup->next;
        }
    }
}

void sx_run_lookups_tool_gone(struct sx_run_state *run, const pmix_proc_t *tool)
{
    for (struct sx_run_asker *asker = run->askers; asker != NULL; asker = asker->next) {
        asker_drop(asker, tool);
    }
}

static bool any_waits(const struct sx_run_state *run)
{
    for (const struct sx_run_asker *asker = run->askers; asker != NULL; asker = asker->next) {
        if (asker->first != NULL) {
            return true;
        }
    }
    return false;
}

static void last_due(void *arg, uint64_t now_ns)
{
    struct sx_run_state *const run = arg;

    (void)now_ns;
    run->lookups_over = true;
}

bool sx_run_lookups_live(struct sx_run_state *run, bool jobs_live)
{
    while (run->job_is_ending) { /* a refusal may end another job */
        run->job_is_ending = false;
        for (struct sx_run_asker *asker = run->askers; asker != NULL; asker = asker->next) {
            asker_drop(asker, NULL);
        }
    }
    if (jobs_live || run->closing || !any_waits(run)) {
        sx_timer_remove(&run->lookups_last);
        return jobs_live;
    }
    if (!sx_run_is_awaited(&run->lookups_last) && !run->lookups_over) {
        sx_run_after(&run->loop, &run->lookups_last, TIME_NS, last_due, run);
    }
    return !run->lookups_over;
}

bool sx_run_lookup_is(const struct sx_run_state *run, pid_t pid)
{
    return run->looker.pid == pid;
}

void sx_run_lookup_ended(struct sx_run_state *run, pid_t pid)
{
    sx_looker_ended(&run->looker, pid);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Askers stay: there are no more than jobs of the command line, and one for the tools. */
static struct sx_run_asker *asker_of(struct sx_run_state *run, const struct sx_run_job *parent)
{
    const char *const name = parent == NULL ? "" : sx_run_job_root(parent);
    struct sx_run_asker **at = &run->askers;

    while (*at != NULL && strcmp((*at)->name, name) != 0) {
        at = &(*at)->next;
    }
    if (*at == NULL) {
        *at = sx_cli_calloc(1, sizeof(**at));
        **at = (struct sx_run_asker){
            .run = run, .name = sx_cli_strdup(name), .answer.fd = -1, .order.fd = -1
        };
    }
    return *at;
}

void sx_run_lookup_spawn(struct sx_run_state *run, struct sx_run_request *request,
                         struct sx_run_job *parent)
{
    if (run->closing || is_ending(parent)) {
        sx_run_child_refuse(run, request, PMIX_ERR_JOB_CANCELED,
                            "the job that asks for it is ending");
        sx_run_request_free(request);
        return;
    }
    if (request->over_share) {
        sx_run_child_refuse(
            run, request, PMIX_ERR_OUT_OF_RESOURCE,
            "spawns of this process, or of its first job and all that it has "
            "spawned, have their share of the 48 MiB for all spawns that wait or run: nine "
            "tenths of what the others leave");
        sx_run_request_free(request);
        return;
    }
    struct sx_run_asker *const asker = asker_of(run, parent);
    struct sx_run_lookup *const lookup = sx_cli_calloc(1, sizeof(*lookup));

    sx_run_job_hold(parent);
    *lookup = (struct sx_run_lookup){ .request = request,
                                      .apart = sx_run_request_part(request),
                                      .parent = parent };
    if (asker->last == NULL) {
        asker->first = lookup;
    } else {
        asker->last->next = lookup;
    }
    asker->last = lookup;
    if (asker->stuck) {
        all_refuse(asker);
    }
}

void sx_run_lookups_end(struct sx_run_state *run)
{
    struct sx_run_asker *asker;

    sx_timer_remove(&run->lookups_last);
    while ((asker = run->askers) != NULL) {
        run->askers = asker->next;
        sx_timer_remove(&asker->limit);
        answer_close(asker);
        while (asker->first != NULL) {
            sx_run_request_answer(asker->first->request, PMIX_ERR_JOB_CANCELED, NULL);
            lookup_free(first_take(asker));
        }
        free(asker->name);
        free(asker);
    }
    sx_looker_deinit(&run->looker);
}
