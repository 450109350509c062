/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job_test.c - two jobs in every order in which their ranks can start, end, abort and be started
 * again, one can spawn the other, ranks of one can depend on dead ranks of the other, time can pass,
 * and the user can lose patience.
 *
 * The ranks are made up: no process, no server.  Each order is played from its beginning, one step
 * longer each time.  After the last step all ranks end that have got a signal, and time passes.
 * Then each job has ended once, the caller of a spawn has one answer, the first cause has decided
 * the exit code, and no timer is left. */
#include "launch/job/state.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/common/say.h"
#include "launch/job/record.h"
#include "launch/pmi/upcall.h"
#include "support/sanitized.h"

#define RANKS_MAX 3u
#define STEPS_MAX 8u
#define FIRST_PID 0x3f000000
#define ABORT_CODE 7
#define LIMIT_NS (3600 * SX_NS_PER_SEC)

enum act {
    START,  /* the next rank */
    EXIT_0, /* the first rank that lives ... */
    EXIT_5,
    SIGNAL,
    NO_FINALIZE, /* it was a client, and exits with 0 */
    ABORT,
    LOSS_RECEIVED, /* the server has noticed the end of that client */
    SPAWN,         /* the first job spawns the second one */
    DEPEND,        /* ranks of the job depend on a rank of the other one, which has died */
    LIMIT,         /* the time of the first job is over */
    CTRL_C,
    ACTS
};

struct step {
    enum act act;
    uint32_t job;
};

/* What may happen. */
static struct scene {
    const char *what;
    uint32_t ranks, started, restarts, depth;
    bool stubborn; /* ranks end at SIGKILL only */
    uint64_t event_grace_ns;
} scene;

static struct sx_run_state run;
static struct sx_run_record record;
static struct sx_run_app apps[2];
static struct sx_run_options options[2];
static struct sx_run_setup setup = { .options = &options[0], .record = &record };
static struct sx_run_jobs jobs;
static struct sx_run_request request;
static struct step steps[STEPS_MAX];
static unsigned step_count, ctrl_c, answers;
static bool limited, depends[2];  /* on the other job */
static int signals[2][RANKS_MAX]; /* the strongest that each rank has got */
static int code_wanted, ends[2];
static uint64_t orders;

/* ---- a world without processes --------------------------------------------------------------- */

static struct sx_run_job *job_at(uint32_t index)
{
    return index < jobs.count ? jobs.at[index] : NULL;
}

static int fake_kill(pid_t group, int number)
{
    const uint32_t at = (uint32_t)(-group - FIRST_PID);

    if (number != SIGCONT && signals[at / RANKS_MAX][at % RANKS_MAX] != SIGKILL) {
        signals[at / RANKS_MAX][at % RANKS_MAX] = number;
    }
    return 0;
}

static void fake_start(struct sx_run_job *job, uint32_t rank)
{
    job->ranks[rank].job = job;
    job->ranks[rank].pid = (pid_t)(FIRST_PID + job->number * RANKS_MAX + rank);
    job->ranks[rank].alive = true;
    job->alive++;
    signals[job->number][rank] = 0;
}

static void fake_answer(struct sx_run_job *job)
{
    answers += sx_run_child_is_awaited(job);
    if (job->request != NULL) {
        job->request->fn = NULL;
    }
}

static const struct sx_run_acts acts = {
    .kill = fake_kill, .start_rank = fake_start, .started = fake_answer, .acted = fake_answer
};

static void spawn_fn(pmix_status_t status, pmix_nspace_t nspace, void *arg)
{
    (void)status;
    (void)nspace;
    (void)arg;
}

static void job_open(struct sx_run_job *job)
{
    job->run = &run;
    sx_run_upcall_add(job);
    for (uint32_t i = 0; i < scene.started; i++) {
        fake_start(job, job->spawned++);
    }
    sx_run_job_started(job);
    if (job->state == SX_RUN_RUNNING) {
        acts.started(job);
    }
}

static void world_open(void)
{
    memset(signals, 0, sizeof(signals));
    memset(&request, 0, sizeof(request));
    ctrl_c = answers = 0;
    limited = depends[0] = depends[1] = false;
    code_wanted = ends[0] = ends[1] = 0;
    run.code = 0;
    run.closing = false;
    for (uint32_t i = 0; i < 2; i++) {
        apps[i] = (struct sx_run_app){ .rank_count = scene.ranks, .restarts_max = scene.restarts };
        options[i] = (struct sx_run_options){ .apps = &apps[i],
                                              .app_count = 1,
                                              .rank_count = scene.ranks,
                                              .kill_grace_ns = SX_RUN_GRACE_BY_CAUSE,
                                              .event_grace_ns = scene.event_grace_ns };
    }
    sx_run_jobs_init(&jobs, &options[0]);
    sx_run_jobs_name(&jobs, "orders", "/t");
    job_open(jobs.at[0]);
    sx_run_end_limit(jobs.at[0], LIMIT_NS);
}

static void world_close(void)
{
    for (uint32_t i = 0; i < jobs.count; i++) {
        sx_run_past_close(jobs.at[i]);
        cr_assert(sx_run_upcall_remove(jobs.at[i]), "somebody holds job %u", i);
    }
    sx_run_jobs_deinit(&jobs);
    free(record.reason);
    record = (struct sx_run_record){ .path = NULL };
}

static void pass(uint64_t ns)
{
    run.loop.stopped_ns -= ns; /* its clock goes on */
    for (int i = 0; i < 3; i++) {
        sx_run_loop_turn(&run.loop, true);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static uint32_t first_alive(const struct sx_run_job *job)
{
    uint32_t rank = 0;

    while (rank < job->spawned && !job->ranks[rank].alive) {
        rank++;
    }
    return rank;
}

static void rank_end(struct sx_run_job *job, uint32_t rank, int how, int status)
{
    const siginfo_t info = { .si_code = how, .si_status = status };
    const bool good = how == CLD_EXITED && status == 0 && !sx_run_upcall_is_client(job, rank);

    job->ranks[rank].alive = false;
    job->alive--;
    sx_run_failure_rank_ended(job, rank, &info, good);
}

static uint32_t not_received(const struct sx_run_job *job)
{
    uint32_t rank = 0;

    while (rank < job->spawned && (job->ranks[rank].alive || job->ranks[rank].loss_received ||
                                   !sx_run_upcall_is_client(job, rank))) {
        rank++;
    }
    return rank;
}

static void connect_client(const struct sx_run_job *job, uint32_t rank)
{
    pmix_proc_t proc = { .rank = rank };

    memcpy(proc.nspace, job->nspace, strlen(job->nspace) + 1);
    sx_run_upcall_module.client_connected(&proc, NULL, NULL, NULL);
}

static void spawn(void)
{
    request.fn = spawn_fn;
    struct sx_run_job *const job = sx_run_jobs_add(&jobs, &options[1]);

    job->request = &request;
    job->parent = jobs.at[0];
    job_open(job);
}

/* The user's signal, as launch/job/life.c passes it on. */
static void interrupt(void)
{
    ctrl_c++;
    for (uint32_t i = 0; i < jobs.count; i++) {
        sx_run_end_hurry(jobs.at[i]);
    }
    sx_run_end_all(&run, SX_RUN_EXIT_SIGNAL + SIGINT, SIGINT, SX_RUN_SIGNAL_GRACE_NS, "got it");
}

/* Return: whether a rank has died that is not started again. */
static bool any_dead(const struct sx_run_job *job)
{
    uint32_t rank = 0;

    while (rank < job->spawned && (job->ranks[rank].alive || job->ranks[rank].again)) {
        rank++;
    }
    return rank < job->spawned;
}

static bool is_possible(enum act act, uint32_t index)
{
    const struct sx_run_job *const job = job_at(index);

    if (act == SPAWN) {
        return index == 1 && job == NULL && !run.closing && jobs.at[0]->state == SX_RUN_RUNNING;
    }
    if (job == NULL || job->state == SX_RUN_OVER) {
        return false;
    }
    switch (act) {
    case START:
        return sx_run_job_is_starting(job);
    case LOSS_RECEIVED:
        return not_received(job) < job->spawned;
    case DEPEND:
        return !depends[index] && job_at(1 - index) != NULL && any_dead(job_at(1 - index));
    case LIMIT:
        return index == 0 && !limited;
    case CTRL_C:
        return index == 0 && ctrl_c < 2;
    default:
        return first_alive(job) < job->spawned;
    }
}

/* Return: the exit code of the cause that @act is; 0: it is none. */
static int code_of(enum act act, const struct sx_run_job *job)
{
    const uint32_t rank = job == NULL ? 0 : first_alive(job);
    const bool again = act != ABORT && act != LIMIT && act != CTRL_C && job != NULL &&
                       rank < job->spawned && job->ranks[rank].restarts < scene.restarts;

    return again                ? 0
           : act == EXIT_5      ? 5
           : act == SIGNAL      ? SX_RUN_EXIT_SIGNAL + SIGSEGV
           : act == NO_FINALIZE ? SX_EXIT_FAILURE
           : act == ABORT       ? ABORT_CODE
           : act == LIMIT       ? SX_RUN_EXIT_TIMEOUT
           : act == CTRL_C      ? SX_RUN_EXIT_SIGNAL + SIGINT
                                : 0;
}

/* Whether a rank is to be started again whose end the server has not noticed. */
static bool restart_waits(const struct sx_run_job *job)
{
    return job != NULL && sx_run_again_any(job) && not_received(job) < job->spawned;
}

/* The first cause of any job decides.  When the time passes, a restart that waits is given up. */
static void code_expect(const struct step *step)
{
    const struct sx_run_job *const job = job_at(step->job);
    int code = job == NULL || job->caused ? 0 : code_of(step->act, job);

    if (step->act == LIMIT && (restart_waits(job_at(0)) || restart_waits(job_at(1)))) {
        code = SX_EXIT_FAILURE;
    }
    if (code_wanted == 0) {
        code_wanted = code;
    }
}

static void apply(const struct step *step)
{
    struct sx_run_job *const job = job_at(step->job);
    const uint32_t rank = job == NULL ? 0 : first_alive(job);

    code_expect(step);
    switch (step->act) {
    case START:
        fake_start(job, job->spawned++);
        sx_run_job_started(job);
        if (job->state == SX_RUN_RUNNING) {
            acts.started(job);
        }
        break;
    case EXIT_0:
        rank_end(job, rank, CLD_EXITED, 0);
        break;
    case EXIT_5:
        rank_end(job, rank, CLD_EXITED, 5);
        break;
    case SIGNAL:
        rank_end(job, rank, CLD_KILLED, SIGSEGV);
        break;
    case NO_FINALIZE:
        connect_client(job, rank);
        rank_end(job, rank, CLD_EXITED, 0);
        break;
    case ABORT:
        sx_run_failure_abort(job, rank, ABORT_CODE, "why");
        break;
    case LOSS_RECEIVED:
        sx_run_end_loss_received(job, not_received(job));
        break;
    case SPAWN:
        spawn();
        break;
    case DEPEND:
        depends[step->job] = true;
        sx_run_end_bereft(job, job_at(1 - step->job));
        break;
    case LIMIT:
        limited = true;
        pass(LIMIT_NS);
        break;
    default:
        interrupt();
        break;
    }
    pass(0);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Ranks that have got a signal end; a job without ranks is over. */
static void signals_obey(bool all)
{
    for (uint32_t i = 0; i < jobs.count; i++) {
        struct sx_run_job *const job = jobs.at[i];

        for (uint32_t rank = 0; rank < job->spawned; rank++) {
            const int number = signals[i][rank];

            if (job->ranks[rank].alive &&
                (number == SIGKILL || (number != 0 && all && !scene.stubborn))) {
                rank_end(job, rank, CLD_KILLED, number);
            }
        }
        if (job->state != SX_RUN_OVER && job->alive == 0 && !sx_run_job_is_starting(job) &&
            !sx_run_again_any(job)) {
            sx_run_job_over(job);
            ends[i]++;
            acts.started(job);
        }
    }
}

/* Whatever lives and has no cause ends well. */
static void rest_end(void)
{
    for (uint32_t i = 0; i < jobs.count; i++) {
        struct sx_run_job *const job = jobs.at[i];

        while (sx_run_job_is_starting(job)) {
            apply(&(struct step){ .act = START, .job = i });
        }
        while (not_received(job) < job->spawned) {
            apply(&(struct step){ .act = LOSS_RECEIVED, .job = i });
        }
        for (uint32_t rank = 0; rank < job->spawned && !job->caused; rank++) {
            if (job->ranks[rank].alive) {
                rank_end(job, rank, CLD_EXITED, 0);
            }
        }
    }
}

static const char *order_text(void)
{
    static const char *const names[] = { "START",       "EXIT_0", "EXIT_5",     "SIGNAL",
                                         "NO_FINALIZE", "ABORT",  "LOSS_HEARD", "SPAWN",
                                         "DEPEND",      "LIMIT",  "CTRL_C" };

    static_assert(SX_COUNT(names) == ACTS, "a name for each act");
    static char text[STEPS_MAX * 24];
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < step_count; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, " %s(%u)", names[steps[i].act],
                                 steps[i].job);
    }
    return text;
}

static void end_and_judge(void)
{
    for (int i = 0; i < 6; i++) {
        signals_obey(true);
        rest_end();
        pass(3 * SX_NS_PER_SEC); /* longer than each grace and pause */
    }
    signals_obey(true);
    for (uint32_t i = 0; i < jobs.count; i++) {
        const struct sx_run_job *const job = jobs.at[i];
        const struct sx_timer *const timers[] = { &job->timeout,  &job->term,     &job->kill,
                                                  &job->reaction, &job->unwanted, &job->lost,
                                                  &job->restart };

        cr_assert(job->state == SX_RUN_OVER && ends[i] == 1,
                  "%s:%s: job %u is in state %d, %u live", scene.what, order_text(), i,
                  (int)job->state, job->alive);
        for (size_t at = 0; at < SX_COUNT(timers); at++) {
            cr_assert_not(sx_run_is_awaited(timers[at]), "%s:%s: timer %zu of job %u is left",
                          scene.what, order_text(), at, i);
        }
    }
    cr_assert_eq(run.code, code_wanted, "%s:%s: code %d, not %d", scene.what, order_text(),
                 run.code, code_wanted);
    cr_assert_eq(answers, jobs.count - 1, "%s:%s: %u answers", scene.what, order_text(), answers);
}

/* A job ends with the job that has spawned it, if that one ends for a cause. */
static void child_judge(void)
{
    const struct sx_run_job *const child = job_at(1);

    if (child != NULL && child->state != SX_RUN_OVER && jobs.at[0]->caused) {
        cr_assert(child->caused, "%s:%s: the child goes on", scene.what, order_text());
    }
}

/* A job ends with the one on whose dead ranks it depends, whichever is known first. */
static void bereft_judge(void)
{
    for (uint32_t i = 0; i < jobs.count; i++) {
        if (depends[i] && jobs.at[1 - i]->caused && jobs.at[i]->state != SX_RUN_OVER) {
            cr_assert(jobs.at[i]->caused, "%s:%s: job %u goes on", scene.what, order_text(), i);
        }
    }
}

/* The first signal of the user reaches each rank at once, even if handlers are waited for.  The
 * second one kills. */
static void patience_judge(void)
{
    for (uint32_t at = 0; ctrl_c > 0 && at < jobs.count * RANKS_MAX; at++) {
        const struct sx_run_job *const job = jobs.at[at / RANKS_MAX];
        const uint32_t rank = at % RANKS_MAX;
        const int number = signals[at / RANKS_MAX][rank];

        if (rank < job->spawned && job->ranks[rank].alive) {
            cr_assert(ctrl_c > 1 ? number == SIGKILL : number != 0,
                      "%s:%s: rank %u of job %u has got signal %d", scene.what, order_text(), rank,
                      at / RANKS_MAX, number);
        }
    }
}

static void play(void)
{
    world_open();
    for (unsigned i = 0; i < step_count; i++) {
        apply(&steps[i]);
        child_judge();
        bereft_judge();
        patience_judge();
        signals_obey(false);
    }
}

static void explore(void)
{
    bool possible[ACTS][2] = { { false } };

    play();
    for (int act = 0; act < ACTS; act++) {
        for (uint32_t job = 0; job < 2; job++) {
            possible[act][job] = is_possible((enum act)act, job);
        }
    }
    end_and_judge();
    world_close();
    orders++;
    if (step_count == scene.depth) {
        return;
    }
    for (int act = 0; act < ACTS; act++) {
        for (uint32_t job = 0; job < 2; job++) {
            if (possible[act][job]) {
                steps[step_count++] = (struct step){ .act = (enum act)act, .job = job };
                explore();
                step_count--;
            }
        }
    }
}

static const struct scene scenes[] = {
    { "a rank each", .ranks = 1, .started = 1, .depth = 6 },
    { "a rank each, stubborn", .ranks = 1, .started = 1, .depth = 6, .stubborn = true },
    { "two ranks, which start", .ranks = 2, .depth = 6 },
    { "two ranks", .ranks = 2, .started = 2, .depth = 5, .stubborn = true },
    { "three ranks", .ranks = 3, .started = 3, .depth = 5 },
    { "handlers before the end", .ranks = 2, .started = 2, .depth = 5,
      .event_grace_ns = SX_NS_PER_SEC },
    { "one restart", .ranks = 2, .started = 2, .restarts = 1, .depth = 5 },
    { "one restart, of a client too", .ranks = 1, .started = 1, .restarts = 1, .depth = 6,
      .event_grace_ns = SX_NS_PER_SEC },
};

Test(run_job_orders, each_order_ends_each_job_once_and_leaves_no_timer, .timeout = 300)
{
    const int out = open("/dev/null", O_WRONLY | O_CLOEXEC);

    setenv("SHMIX_LOOP", "epoll", 1);
    cr_assert_eq(sx_run_loop_init(&run.loop), 0);
    cr_assert_eq(sx_run_sink_init(&run.sinks[1], &run.loop, out), 0);
    run.sink_of[0] = run.sink_of[1] = &run.sinks[1];
    run.setup = &setup;
    run.acts = &acts;
    run.jobs = &jobs;
    for (size_t i = 0; i < SX_COUNT(scenes); i++) {
        scene = scenes[i];
        scene.depth -= SANITIZED_THREADS; /* which makes each order ten times as long */
        explore();
    }
    cr_log_info("%llu orders", (unsigned long long)orders);
    cr_expect_gt(orders, 10000);
    sx_run_upcall_deinit();
    sx_run_sink_deinit(&run.sinks[1]);
    sx_run_loop_deinit(&run.loop);
}
