/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ctl.c - an action is a row: its directive, and the word that it takes.
 *
 *     options --> directives and targets --> attach --> PMIx_Job_control --> results
 *
 * Processes that were not named are never affected. */
#include "cli/verbs.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/util.h"
#include "base/value/value.h"
#include "cli/attach.h"
#include "cli/value.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"

#define RANKS_MAX 1024
#define SIGNAL_LAST 64 /* the largest value of PMIX_JOB_CTRL_SIGNAL */

/* The kind of the word behind an action. */
enum word { NO_WORD, SIGNAL_WORD, TEXT_WORD, ANY_WORD /* or none */ };

struct action {
    const char *name, *key;
    enum word word;
    const char *wants; /* to end the sentence "shmix ctl ACTION wants ..." */
    bool on_nobody;    /* processes need not be named */
};

static const struct action actions[] = {
    { "kill", PMIX_JOB_CTRL_KILL, NO_WORD, NULL, false },
    { "term", PMIX_JOB_CTRL_TERMINATE, NO_WORD, NULL, false },
    { "signal", PMIX_JOB_CTRL_SIGNAL, SIGNAL_WORD, "a signal, as USR1 or 10", false },
    { "pause", PMIX_JOB_CTRL_PAUSE, NO_WORD, NULL, false },
    { "resume", PMIX_JOB_CTRL_RESUME, NO_WORD, NULL, false },
    { "define-set", PMIX_JOB_CTRL_DEFINE_PSET, TEXT_WORD, "a name for the set", false },
    { "cancel", PMIX_JOB_CTRL_CANCEL, ANY_WORD, "the id of a request, or nothing", true },
    { "checkpoint", PMIX_JOB_CTRL_CHECKPOINT, TEXT_WORD, "a name for the checkpoint", false },
    { "restart", PMIX_JOB_CTRL_RESTART, TEXT_WORD, "the name of a checkpoint", false },
    { "provision", PMIX_JOB_CTRL_PROVISION, TEXT_WORD, "the nodes, as a list", true },
};

struct wish {
    struct sx_attach attach;
    const char *action, *word, *target, *id;
    const char *signal; /* that kill and term send; NULL: their own */
    pmix_rank_t ranks[RANKS_MAX];
    size_t rank_count;
    bool json;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool ranks_set(void *at, const char *value)
{
    struct wish *const wish = at;
    char *const copy = sx_cli_strdup(value);
    char *rest = copy;
    const char *word;
    int64_t rank = 0;
    bool good = true;

    wish->rank_count = 0;
    while (good && (word = strsep(&rest, ",")) != NULL) {
        good = wish->rank_count < RANKS_MAX && sx_cli_number(word, 0, PMIX_RANK_VALID, &rank);
        if (good) {
            wish->ranks[wish->rank_count++] = (pmix_rank_t)rank;
        }
    }
    free(copy);
    return good;
}

#define OF(member) offsetof(struct wish, member), false

static_assert(RANKS_MAX == 1024 && PMIX_MAX_NSLEN == 255, "what is said below");

static const struct sx_option rows[] = {
    { .help = "actions:" },
    { .name = "kill", .help = "kill the processes" },
    { .name = "term", .help = "send them SIGTERM, as their end is wanted" },
    { .name = "signal", .value = "SIGNAL", .help = "send them a signal, as USR1 or 10" },
    { .name = "pause", .help = "stop them" },
    { .name = "resume", .help = "let them go on" },
    { .name = "define-set", .value = "NAME", .help = "make them a process set" },
    { .name = "cancel", .value = "[ID]", .help = "cancel a request with this id, or all of yours" },
    { .name = "checkpoint", .value = "NAME", .help = "the host makes a checkpoint of them" },
    { .name = "restart", .value = "NAME", .help = "the host restarts them from a checkpoint" },
    { .name = "provision", .value = "NODES", .help = "the host provisions nodes" },
    { "ACTION", NULL, NULL, NULL, "what to do, as pause", "one of these actions", sx_option_text,
      OF(action) },
    { "[WORD]", NULL, NULL, NULL, "what the action wants", "what stands behind some of them",
      sx_option_text, OF(word) },
    { "[NAMESPACE | PID]", NULL, NULL, NULL, "the name of a job, or the process id of its server",
      "all processes of this job, which 'shmix ls jobs' lists; NAMESPACE.RANK: one of them",
      sx_option_text, OF(target) },
    { .help = "to whom:" },
    { "--nspace", NULL, "NAMESPACE", "job-1", "the name of a job, at most 255 bytes",
      "the same as NAMESPACE", sx_whose_nspace_set, OF(attach.whose.nspace) },
    { "--rank", NULL, "RANK[,RANK]...", "--nspace job-1 --rank 0,2",
      "ranks with commas between them, from 0 on, at most 1024 of them",
      "these of its ranks, or of the group's, alone", ranks_set, 0, false },
    { "--group", NULL, "NAME", "ice", "the name of a group, at most 255 bytes",
      "the members of this group, which 'shmix ls groups' lists", sx_whose_nspace_set,
      OF(attach.group) },
    { "--set", NULL, "NAME", "ocean", "the name of a process set, at most 255 bytes",
      "the members of this process set, which 'shmix ls sets' lists", sx_whose_nspace_set,
      OF(attach.set) },
    { .help = "how:" },
    { "--signal", "-s", "SIGNAL", "--help", "a signal, as USR1 or 10",
      "with kill and term: the signal that is sent, as 'signal SIGNAL'", sx_option_text,
      OF(signal) },
    { "--id", NULL, "ID", "backup", "an id", "the id of this request, by which it is cancelled",
      sx_option_text, OF(id) },
    { "--json", NULL, NULL, NULL, NULL, "print what became of it as one JSON object",
      sx_option_flag, OF(json) },
    SX_ATTACH_ROWS(struct wish, attach),
};

static const char about[] =
    "usage: shmix ctl ACTION [WORD] NAMESPACE | PID [--rank RANK,...] [options]\n"
    "       shmix ctl ACTION [WORD] --group NAME [--rank RANK,...] [options]\n"
    "       shmix ctl ACTION [WORD] --set NAME [options]\n"
    "\n"
    "Act on processes of a running job through its server. Nothing is done to processes that are\n"
    "not named. You must be the user of the server, or root.\n";

static const char more[] =
    "\n"
    "examples:\n"
    "  shmix ctl pause shmix-4711-07484b           all of a job\n"
    "  shmix ctl signal USR1 4711 --rank 0,2       ranks of the job of the server 4711\n"
    "  shmix ctl term --set ice                    a process set\n"
    "\n"
    "Exit code: 0 when it has been done; 1 when not; 2 for a wrong option.\n";

const struct sx_verb sx_ctl_verb = {
    .name = "shmix ctl",
    .try_begin = "shmix ctl cancel", /* it needs no processes */
    .try_end = "",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

/* ---- the command line ------------------------------------------------------------------------ */

static const struct action *action_find(const char *name)
{
    for (size_t i = 0; i < SX_COUNT(actions); i++) {
        if (strcmp(name, actions[i].name) == 0) {
            return &actions[i];
        }
    }
    return NULL;
}

static bool sends_signal(const struct action *action)
{
    return strcmp(action->name, "kill") == 0 || strcmp(action->name, "term") == 0;
}

/* A signal is a row.  glibc has these names from 2.32 on. */
static const struct {
    const char *name;
    int number;
} signals[] = {
#define SIGNAL(name)     \
    {                    \
#name, SIG##name \
    }
    SIGNAL(HUP),   SIGNAL(INT),  SIGNAL(QUIT), SIGNAL(ILL),    SIGNAL(TRAP), SIGNAL(ABRT),
    SIGNAL(BUS),   SIGNAL(FPE),  SIGNAL(KILL), SIGNAL(USR1),   SIGNAL(SEGV), SIGNAL(USR2),
    SIGNAL(PIPE),  SIGNAL(ALRM), SIGNAL(TERM), SIGNAL(CHLD),   SIGNAL(CONT), SIGNAL(STOP),
    SIGNAL(TSTP),  SIGNAL(TTIN), SIGNAL(TTOU), SIGNAL(URG),    SIGNAL(XCPU), SIGNAL(XFSZ),
    SIGNAL(PROF),  SIGNAL(SYS),  SIGNAL(POLL), SIGNAL(VTALRM), SIGNAL(PWR),  SIGNAL(STKFLT),
    SIGNAL(WINCH),
#undef SIGNAL
};

/* "USR1", "SIGUSR1" or "10".  Return: 0 when @word is not a signal. */
static int signal_of(const char *word)
{
    const char *const name = strncmp(word, "SIG", 3) == 0 ? word + 3 : word;
    int64_t number = 0;

    if (sx_cli_number(word, 1, SIGNAL_LAST, &number)) {
        return (int)number;
    }
    for (size_t i = 0; i < SX_COUNT(signals); i++) {
        if (strcmp(name, signals[i].name) == 0) {
            return signals[i].number;
        }
    }
    return 0;
}

/* Check the rules that no single row can check.  Return: SX_OPTIONS_TAKEN, or the exit code. */
static int wish_check(const struct wish *wish, const struct action *action)
{
    const bool has_word = wish->word != NULL;
    const int named = (wish->attach.whose.nspace != NULL) + (wish->attach.group != NULL) +
                      (wish->attach.set != NULL) + (wish->target != NULL);

    if (action == NULL) {
        struct sx_verb verb = sx_ctl_verb;

        verb.try_begin = "shmix ctl";
        return sx_options_refuse_unknown(&verb, "action", wish->action, strlen(wish->action));
    }
    if (wish->signal != NULL && !sends_signal(action)) {
        return sx_options_refuse(&sx_ctl_verb, NULL, "--signal is for kill and term");
    }
    if (has_word ? action->word == NO_WORD
                 : action->word == SIGNAL_WORD || action->word == TEXT_WORD) {
        return sx_options_refuse(&sx_ctl_verb, NULL, "%s wants %s", action->name,
                                 has_word ? "one job at a time, and no other word" : action->wants);
    }
    if (action->word == SIGNAL_WORD && signal_of(wish->word) == 0) {
        return sx_options_refuse(&sx_ctl_verb, NULL, "'%.80s' is no signal: %s wants %s",
                                 wish->word, action->name, action->wants);
    }
    if (named > 1) {
        return sx_options_refuse(&sx_ctl_verb, NULL,
                                 "NAMESPACE, PID, --nspace, --group or --set: give one of them");
    }
    if (named == 0 && (!action->on_nobody || wish->rank_count > 0)) {
        sx_say("no target: give the name of a job, --group or --set\ntry: shmix ls jobs");
        return SX_EXIT_USAGE;
    }
    if (wish->attach.set != NULL && wish->rank_count > 0) {
        return sx_options_refuse(&sx_ctl_verb, "--set",
                                 "a process set has no ranks: leave out --rank");
    }
    return SX_OPTIONS_TAKEN;
}

static void directive_load(pmix_info_t *info, const struct wish *wish, const struct action *action)
{
    const bool yes = true;

    if (action->word == SIGNAL_WORD) {
        const int number = signal_of(wish->word);

        PMIx_Info_load(info, action->key, &number, PMIX_INT);
    } else if (wish->word != NULL) {
        PMIx_Info_load(info, action->key, wish->word, PMIX_STRING);
    } else if (action->word == NO_WORD) {
        PMIx_Info_load(info, action->key, &yes, PMIX_BOOL);
    } else {
        PMIx_Load_key(info->key, action->key); /* no value: all requests */
    }
}

/* Without ranks: all processes of the job, or of the group. */
static pmix_status_t named_load(const struct wish *wish, pmix_proc_t **ret, size_t *ret_count)
{
    const char *const nspace = wish->attach.group != NULL ? wish->attach.group
                                                          : wish->attach.whose.nspace;
    const bool all = wish->rank_count == 0;

    *ret_count = nspace == NULL ? 0 : all ? 1 : wish->rank_count;
    *ret = *ret_count == 0 ? NULL : sx_cli_calloc(*ret_count, sizeof(**ret));
    for (size_t i = 0; i < *ret_count; i++) {
        PMIx_Load_procid(&(*ret)[i], nspace, all ? PMIX_RANK_WILDCARD : wish->ranks[i]);
    }
    return PMIX_SUCCESS;
}

/* A set, unlike a group, is not a namespace of processes: ask the server for its members. */
static pmix_status_t set_load(const char *name, pmix_proc_t **ret, size_t *ret_count)
{
    char key[] = PMIX_QUERY_PSET_MEMBERSHIP, *keys[] = { key, NULL };
    pmix_info_t qualifier = { 0 }, *info = NULL;
    pmix_query_t query = { .keys = keys, .qualifiers = &qualifier, .nqual = 1 };
    size_t ninfo = 0;

    PMIx_Info_load(&qualifier, PMIX_PSET_NAME, name, PMIX_STRING);
    pmix_status_t rc = PMIx_Query_info(&query, 1, &info, &ninfo);
    const pmix_data_array_t *const members = rc == PMIX_SUCCESS && ninfo == 1 &&
                                                     info[0].value.type == PMIX_DATA_ARRAY
                                                 ? info[0].value.data.darray
                                                 : NULL;

    if (members == NULL || members->type != PMIX_PROC || members->size == 0) {
        rc = rc == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : rc;
    } else {
        *ret = sx_cli_calloc(members->size, sizeof(**ret));
        *ret_count = members->size;
        memcpy(*ret, members->array, members->size * sizeof(**ret));
    }
    if (info != NULL) {
        PMIX_INFO_FREE(info, ninfo);
    }
    PMIX_INFO_DESTRUCT(&qualifier);
    return rc;
}

/* ---- results --------------------------------------------------------------------------------- */

static void nobody_say(const struct wish *wish, const char *whom)
{
    struct sx_whose_found found = { .count = 1 };

    if (whom != NULL && whom == wish->attach.whose.nspace) {
        sx_whose_find(SX_WHOSE_JOB, whom, &found);
    }
    if (found.count == 0) {
        sx_say("no job '%.255s' runs here%s; 'shmix ls jobs' lists those that do", whom,
               geteuid() == 0 ? "" : " that you may act on (root sees all)");
    } else {
        sx_say("this server has no such processes: %.255s%s; 'shmix ls procs' lists what runs",
               whom != NULL ? whom : "none", wish->rank_count > 0 ? " with these ranks" : "");
    }
}

static void refusal_say(const struct wish *wish, pmix_status_t rc)
{
    const char *const whom = wish->attach.set != NULL     ? wish->attach.set
                             : wish->attach.group != NULL ? wish->attach.group
                                                          : wish->attach.whose.nspace;

    switch (rc) {
    case PMIX_ERR_NOT_FOUND:
        if (strcmp(wish->action, "cancel") == 0) {
            sx_say("there is no such request any more");
        } else {
            nobody_say(wish, whom);
        }
        break;
    case PMIX_ERR_NO_PERMISSIONS:
        sx_say("%.255s has processes of another user; be that user, or root",
               whom != NULL ? whom : "it");
        break;
    case PMIX_ERR_NOT_SUPPORTED:
        sx_say("the host of this server offers no '%s': it has no job_control, or refuses this",
               wish->action);
        break;
    case PMIX_ERR_LOST_CONNECTION:
        sx_say("the server has ended before it has answered");
        break;
    default:
        sx_say("%s: not done: %s", wish->action, PMIx_Error_string(rc));
        break;
    }
}

static void results_print(pmix_status_t rc, const pmix_info_t *results, size_t count, bool json)
{
    if (json) {
        printf("{\"status\":\"%s\",\"results\":{", PMIx_Error_string(rc));
    }
    for (size_t i = 0; i < count; i++) {
        fputs(json && i > 0 ? "," : "", stdout);
        sx_cli_key_print(results[i].key, json);
        putchar(json ? ':' : ' ');
        sx_cli_value_print(&results[i].value, json);
        fputs(json ? "" : "\n", stdout);
    }
    if (json) {
        printf("}}\n");
    }
}

static int control(const struct wish *wish, const struct action *action)
{
    pmix_info_t directives[2] = { 0 }, *results = NULL;
    size_t ndirs = 0, count = 0, ntargets = 0;
    pmix_proc_t *targets = NULL;
    pmix_status_t rc = wish->attach.set != NULL ? set_load(wish->attach.set, &targets, &ntargets)
                                                : named_load(wish, &targets, &ntargets);

    directive_load(&directives[ndirs++], wish, action);
    if (wish->id != NULL) {
        PMIx_Info_load(&directives[ndirs++], PMIX_JOB_CTRL_ID, wish->id, PMIX_STRING);
    }
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Job_control(targets, ntargets, directives, ndirs, &results, &count);
    }
    if (rc != PMIX_SUCCESS) {
        refusal_say(wish, rc);
    }
    results_print(rc, results, count, wish->json);
    if (results != NULL) {
        PMIX_INFO_FREE(results, count);
    }
    sx_elements_destruct(directives, ndirs, PMIX_INFO);
    free(targets);
    return rc == PMIX_SUCCESS && fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

/* ---- the target as a word -------------------------------------------------------------------- */

/* For an action without a word, the word behind it is its target; --signal is the word of the
 * action in the place of kill and term, which is returned. */
static const struct action *words_settle(struct wish *wish)
{
    const struct action *const action = action_find(wish->action);

    if (action != NULL && action->word == NO_WORD && wish->target == NULL) {
        wish->target = wish->word;
        wish->word = NULL;
    }
    if (action == NULL || wish->signal == NULL || !sends_signal(action) || wish->word != NULL) {
        return action;
    }
    wish->word = wish->signal;
    wish->signal = NULL;
    return action_find("signal");
}

struct jobs {
    char *nspace; /* of the first target */
    unsigned count;
};

static void job_take(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct jobs *const jobs = arg;

    (void)server;
    if (sx_cli_store_is_of_job(store) && jobs->count++ == 0) {
        jobs->nspace = sx_cli_strdup(nspace);
    }
}

/* A name with a dot may be that of a job; else it may be NAMESPACE.RANK, or NAMESPACE.*. */
static void rank_split(struct wish *wish, char **ret_copy)
{
    struct sx_whose *const whose = &wish->attach.whose;
    const char *const dot = strrchr(whose->nspace, '.');
    struct sx_whose_found found;
    int64_t rank = 0;
    const bool all = dot != NULL && strcmp(dot, ".*") == 0;

    if (dot == NULL || dot == whose->nspace || wish->rank_count > 0 ||
        (!all && !sx_cli_number(dot + 1, 0, PMIX_RANK_VALID, &rank))) {
        return;
    }
    sx_whose_find(SX_WHOSE_JOB, whose->nspace, &found);
    if (found.count > 0) {
        return;
    }
    whose->nspace = *ret_copy = sx_cli_printf("%.*s", (int)(dot - whose->nspace), whose->nspace);
    if (!all) {
        wish->ranks[wish->rank_count++] = (pmix_rank_t)rank;
    }
}

/* Replace a process by the one job of its server, and a rank's name by its job and the rank.
 * Return: false, with a message, when the server has no job, or several; @ret_copy is to be
 * freed. */
static bool target_settle(struct wish *wish, char **ret_copy)
{
    struct sx_whose *const whose = &wish->attach.whose;
    struct jobs jobs = { .count = 0 };

    if (wish->target == NULL) {
        return true;
    }
    if (!sx_whose_set(whose, wish->target)) {
        sx_say("'%.80s' is neither the name of a job nor a process id", wish->target);
        return false;
    }
    if (whose->nspace != NULL) {
        rank_split(wish, ret_copy);
        return true;
    }
    const bool is_open = sx_cli_stores_each(whose->pid, job_take, &jobs);

    whose->nspace = *ret_copy = jobs.nspace;
    if (jobs.count == 0 && !is_open && !sx_proc_has_ended(whose->pid)) {
        sx_say("process %d is another user's: be that user, or root%s", (int)whose->pid,
               sx_whose_users(whose->pid));
    } else if (jobs.count == 0 && !sx_cli_outside_say(whose->pid)) {
        sx_say("process %d is not a server with a job; 'shmix ls jobs' lists those that run",
               (int)whose->pid);
    } else if (jobs.count > 1) {
        sx_say("the server %d has %u jobs: name one; 'shmix ls jobs %d' lists them",
               (int)whose->pid, jobs.count, (int)whose->pid);
    }
    return jobs.count == 1;
}

/* ---- the command ----------------------------------------------------------------------------- */

int sx_cli_ctl(char **words)
{
    struct wish wish = { .action = NULL };
    int code = sx_options_take(&sx_ctl_verb, &wish, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    const struct action *const action = words_settle(&wish);
    char *copy = NULL;

    code = wish_check(&wish, action);
    if (code == SX_OPTIONS_TAKEN && !target_settle(&wish, &copy)) {
        code = SX_EXIT_FAILURE;
    }
    if (code == SX_OPTIONS_TAKEN) {
        code = sx_attach_begin(&wish.attach);
        if (code == 0) {
            code = control(&wish, action);
            sx_attach_end();
        }
    }
    free(copy);
    return code;
}
