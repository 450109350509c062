/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1.c - connections of ranks, and a row for each command of PMI-1. */
#include "launch/pmi/pmi1.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pmix.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/util.h"
#include "control/bulk.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/options.h"
#include "launch/common/say.h"
#include "launch/job/state.h"
#include "launch/place/device_probe.h"
#include "launch/place/program.h"
#include "launch/pmi/host.h"
#include "launch/pmi/pmi1_line.h"
#include "launch/pmi/upcall.h"

#define NAME_MAX_BYTES 256 /* of a job or a service; MPICH's own launcher has the same limits */
#define KEY_MAX_BYTES SX_RUN_PMI1_KEY_MAX_BYTES
#define VALUE_MAX_BYTES SX_RUN_PMI1_VALUE_MAX_BYTES
#define READ_BYTES 4096
#define ANSWER_MAX (VALUE_MAX_BYTES + 256)

enum state { NEW = 0, CLIENT, DONE };

struct line {
    size_t used, room; /* room: for its end as well */
    bool is_long;      /* longer than the limit: the text is only a part of it */
    char *text;        /* NULL: none */
};

struct rank {
    struct sx_poll watch; /* fd -1: no connection */
    struct sx_run_job *job;
    struct line line; /* the unfinished one */
    enum state state;
    bool waits;                      /* in a barrier */
    bool gone;                       /* barriers cannot complete with this rank */
    bool spawns;                     /* its spawn has not been answered */
    bool many;                       /* inside of an mcmd */
    bool aborted;                    /* further lines belong to its abort message */
    struct sx_run_pmi1_spawn *spawn; /* of this mcmd, or of one before it; or NULL */
    char many_name[16];
};

/* The state of one job. */
struct sx_run_pmi1 {
    struct sx_run_pmi1_words words; /* pairs that ranks have put */
    uint32_t waiting, gone;         /* ranks in the barrier; ranks that make barriers fail */
    struct rank ranks[];
};

/* One request, and room for the parts of its answer besides success. */
struct ask {
    struct sx_run_job *job;
    struct rank *rank;
    uint32_t number;
    const struct sx_run_pmi1_line *line;
    char more[ANSWER_MAX];
};

static void receive(void *arg, uint32_t revents, uint64_t now_ns);

static uint32_t number_of(const struct rank *rank)
{
    return (uint32_t)(rank - rank->job->pmi1->ranks);
}

/* ---- connections ----------------------------------------------------------------------------- */

static struct sx_run_pmi1 *pmi1_of(struct sx_run_job *job)
{
    if (job->pmi1 == NULL) {
        job->pmi1 = sx_cli_calloc(1, sizeof(*job->pmi1) +
                                         job->rank_count * sizeof(job->pmi1->ranks[0]));
        sx_run_pmi1_words_init(&job->pmi1->words, job->rank_count);
        for (uint32_t i = 0; i < job->rank_count; i++) {
            job->pmi1->ranks[i] = (struct rank){ .watch.fd = -1, .job = job };
        }
    }
    return job->pmi1;
}

/* Whether the job was spawned over PMI-1.  A program that was asks for the pairs that its parent
 * has put for it. */
static bool was_spawned(const struct sx_run_job *job)
{
    return job->request != NULL && job->request->over_pmi1;
}

int sx_run_pmi1_connect(struct sx_run_job *job, uint32_t rank, char ***env, int *ret_fd)
{
    struct rank *const its = &pmi1_of(job)->ranks[rank];
    int pair[2], why;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return errno;
    }
    if (its->gone) { /* the rank is restarted */
        its->gone = false;
        job->pmi1->gone--;
    }
    its->state = NEW;
    its->aborted = false;
    its->watch = (struct sx_poll){ .fd = pair[0], .fn = receive, .arg = its };
    why = sx_run_watch(&job->run->loop, &its->watch, POLLIN);
    if (why != 0) {
        close(pair[0]);
        close(pair[1]);
        its->watch.fd = -1;
        return why;
    }
    sx_run_env_put_number(env, "PMI_FD", (uint32_t)pair[1]);
    sx_run_env_put_number(env, "PMI_RANK", rank);
    sx_run_env_put_number(env, "PMI_SIZE", job->rank_count);
    if (was_spawned(job)) {
        sx_run_env_put_number(env, "PMI_SPAWNED", 1);
    }
    *ret_fd = pair[1];
    return 0;
}

static void disconnect(struct rank *rank)
{
    const int fd = rank->watch.fd;

    if (fd >= 0) {
        sx_run_unwatch(&rank->watch);
        close(fd);
    }
    free(rank->line.text);
    rank->line = (struct line){ .text = NULL };
    rank->spawn = sx_run_pmi1_spawn_free(rank->spawn);
}

void sx_run_pmi1_deinit(struct sx_run_job *job)
{
    if (job->pmi1 != NULL) {
        for (uint32_t i = 0; i < job->rank_count; i++) {
            disconnect(&job->pmi1->ranks[i]);
        }
        sx_run_pmi1_words_deinit(&job->pmi1->words);
        free(job->pmi1);
        job->pmi1 = NULL;
    }
}

bool sx_run_pmi1_is_client(const struct sx_run_job *job, uint32_t rank)
{
    return job->pmi1 != NULL && job->pmi1->ranks[rank].state == CLIENT;
}

/* The connection has ended, from either side. */
static void lost(struct rank *rank)
{
    struct sx_run_job *const job = rank->job;

    disconnect(rank);
    if (rank->state == CLIENT) {
        job->run->acts->lost(job, number_of(rank));
    }
}

/* A rank waits for one answer at most before it sends another request.  So if its socket has no
 * room for an answer, the rank does not read, and loses the connection. */
__attribute__((format(printf, 2, 3))) static void say_line(struct rank *rank, const char *fmt, ...)
{
    char text[ANSWER_MAX + 64];
    va_list args;

    va_start(args, fmt);
    const int size = vsnprintf(text, sizeof(text), fmt, args);

    va_end(args);
    if (rank->watch.fd >= 0 &&
        send(rank->watch.fd, text, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL) != size) {
        lost(rank);
    }
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void barrier_end(struct sx_run_job *job)
{
    const char *const how = job->pmi1->gone == 0 ? "rc=0" : "rc=1 msg=a_rank_has_ended";

    job->pmi1->waiting = 0;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        struct rank *const rank = &job->pmi1->ranks[i];

        if (rank->waits) {
            rank->waits = false;
            say_line(rank, "cmd=barrier_out %s\n", how);
        }
    }
}

void sx_run_pmi1_rank_gone(struct sx_run_job *job, uint32_t rank)
{
    struct rank *const its = &pmi1_of(job)->ranks[rank];

    disconnect(its);
    if (its->waits) {
        its->waits = false;
        job->pmi1->waiting--;
    }
    if (!its->gone) {
        its->gone = true;
        job->pmi1->gone++;
    }
    if (job->pmi1->waiting > 0) {
        barrier_end(job);
    }
}

/* ---- keys that the launcher answers ---------------------------------------------------------- */

static bool key_mapping(struct ask *ask)
{
    snprintf(ask->more, sizeof(ask->more), "value=" SX_RUN_INFO_ANL_MAP, ask->job->rank_count);
    return true;
}

static bool key_universe(struct ask *ask)
{
    snprintf(ask->more, sizeof(ask->more), "value=%" PRIu32,
             sx_run_jobs_places(ask->job->run->jobs));
    return true;
}

/* A rank that reads the machine's topology from this file need not discover it, which costs more
 * than the rest of its start.  The file is this process's memory, and nobody can change it. */
static bool key_topology(struct ask *ask)
{
    struct sx_run_state *const run = ask->job->run;
    sx_run_look_await(run->setup->look);
    char *const xml = run->setup->machine->xml;
    const struct iovec bytes = { .iov_base = xml, .iov_len = xml == NULL ? 0 : strlen(xml) };

    if (run->xml_fd < 0 && xml != NULL) {
        (void)sx_bulk_make(&bytes, 1, bytes.iov_len, &run->xml_fd);
    }
    snprintf(ask->more, sizeof(ask->more), "value=/proc/%ld/fd/%d", (long)getpid(), run->xml_fd);
    return run->xml_fd >= 0;
}

/* Ranks that have failed, or were never started; as many as a value has room for. */
static bool key_dead(struct ask *ask)
{
    size_t used = (size_t)snprintf(ask->more, sizeof(ask->more), "value=");
    const size_t begin = used;

    for (uint32_t i = 0; i < ask->job->rank_count && used < VALUE_MAX_BYTES - 16; i++) {
        if (ask->job->pmi1->ranks[i].gone &&
            ask->job->ranks[i].state != PMIX_PROC_STATE_TERMINATED) {
            used += (size_t)snprintf(ask->more + used, sizeof(ask->more) - used, "%s%" PRIu32,
                                     used > begin ? "," : "", i);
        }
    }
    return used > begin;
}

static const struct {
    const char *key;
    bool (*fn)(struct ask *ask); /* false: not found */
} own_keys[] = {
    { "PMI_process_mapping", key_mapping },
    { "PMI_dead_processes", key_dead },
    { "PMI_hwloc_xmlfile", key_topology },
    { "universeSize", key_universe },
};

/* ---- commands: each returns what is wrong, or NULL ------------------------------------------- */

static const char waits[] = ""; /* the answer comes later, or never */
static const char not_found[] = "key_not_found";
static const char no_room[] = "no_room";

static const char *word(const struct ask *ask, const char *key)
{
    return sx_run_pmi1_line_get(ask->line, key);
}

static const char *do_init(struct ask *ask)
{
    if (strcmp(word(ask, "pmi_version"), "1") != 0) {
        return "version_is_not_supported";
    }
    ask->rank->state = CLIENT;
    sx_run_upcall_count(ask->job, number_of(ask->rank));
    snprintf(ask->more, sizeof(ask->more), "pmi_version=1 pmi_subversion=1");
    return NULL;
}

static const char *do_maxes(struct ask *ask)
{
    snprintf(ask->more, sizeof(ask->more), "kvsname_max=%d keylen_max=%d vallen_max=%d",
             NAME_MAX_BYTES, KEY_MAX_BYTES, VALUE_MAX_BYTES);
    return NULL;
}

static const char *do_appnum(struct ask *ask)
{
    snprintf(ask->more, sizeof(ask->more), "appnum=%zu",
             (size_t)(sx_run_job_app(ask->job, ask->number) - ask->job->apps));
    return NULL;
}

static const char *do_universe(struct ask *ask)
{
    snprintf(ask->more, sizeof(ask->more), "size=%" PRIu32,
             sx_run_jobs_places(ask->job->run->jobs));
    return NULL;
}

static const char *do_name(struct ask *ask)
{
    snprintf(ask->more, sizeof(ask->more), "kvsname=%s", ask->job->nspace);
    return NULL;
}

static const char *do_put(struct ask *ask)
{
    if (strcmp(word(ask, "kvsname"), ask->job->nspace) != 0) {
        return "another_job";
    }
    if (strncmp(word(ask, "key"), "PMI_", 4) == 0) {
        return "reserved_key";
    }
    return sx_run_pmi1_words_put(&ask->job->pmi1->words, ask->number, word(ask, "key"),
                                 word(ask, "value"))
               ? NULL
               : no_room;
}

static const char *do_get(struct ask *ask)
{
    const char *const key = word(ask, "key"), *value;

    if (strcmp(word(ask, "kvsname"), ask->job->nspace) != 0) {
        return "another_job";
    }
    for (size_t i = 0; i < SX_COUNT(own_keys); i++) {
        if (strcmp(key, own_keys[i].key) == 0) {
            return own_keys[i].fn(ask) ? NULL : not_found;
        }
    }
    value = sx_run_pmi1_words_get(&ask->job->pmi1->words, key);
    if (value == NULL && was_spawned(ask->job)) {
        value = sx_run_pmi1_words_get(&ask->job->request->preputs, key);
    }
    if (value == NULL) {
        return not_found;
    }
    snprintf(ask->more, sizeof(ask->more), "value=%s", value);
    return NULL;
}

static const char *do_barrier(struct ask *ask)
{
    struct sx_run_pmi1 *const pmi1 = ask->job->pmi1;

    if (word(ask, "group") != NULL) {
        return "groups_are_not_supported";
    }
    if (pmi1->gone > 0) {
        return "a_rank_has_ended";
    }
    if (!ask->rank->waits) {
        ask->rank->waits = true;
        pmi1->waiting++;
    }
    if (pmi1->waiting == ask->job->rank_count) {
        barrier_end(ask->job);
    }
    return waits;
}

static const char *do_finalize(struct ask *ask)
{
    ask->rank->state = DONE;
    return NULL;
}

static const char *do_abort(struct ask *ask)
{
    const char *const text = word(ask, "message");
    int64_t code;

    if (!sx_cli_number(word(ask, "exitcode"), INT32_MIN, INT32_MAX, &code)) {
        code = SX_EXIT_FAILURE;
    }
    ask->rank->aborted = true;
    ask->job->run->acts->abort(ask->job, ask->number, (int)code, text == NULL ? "" : text);
    return waits;
}

static const char *do_publish(struct ask *ask)
{
    return sx_run_pmi1_name_publish(ask->job, ask->number, word(ask, "service"), word(ask, "port"));
}

static const char *do_unpublish(struct ask *ask)
{
    return sx_run_pmi1_name_withdraw(ask->job, ask->number, word(ask, "service"));
}

static const char *do_lookup(struct ask *ask)
{
    char port[VALUE_MAX_BYTES];
    const char *const wrong = sx_run_pmi1_name_find(ask->job, ask->number, word(ask, "service"),
                                                    port, sizeof(port));

    if (wrong == NULL) {
        snprintf(ask->more, sizeof(ask->more), "port=%s", port);
    }
    return wrong;
}

static void spawn_done(pmix_status_t status, pmix_nspace_t nspace, void *arg)
{
    struct rank *const rank = arg;

    (void)nspace;
    rank->spawns = false;
    sx_run_job_drop(rank->job);
    if (status == PMIX_SUCCESS) {
        say_line(rank, "cmd=spawn_result rc=0\n"); /* without errcodes: all ranks have started */
    } else {
        say_line(rank, "cmd=spawn_result rc=1 msg=%s\n", PMIx_Error_string(status));
    }
}

static const char *do_spawn(struct ask *ask)
{
    struct rank *const rank = ask->rank;
    const char *wrong = "an_mcmd_is_wanted";

    if (rank->spawns) {
        return "a_spawn_is_under_way";
    }
    if (rank->spawn != NULL) {
        rank->spawns = true;
        sx_run_job_hold(rank->job); /* held until the answer */
        wrong = sx_run_pmi1_spawn_start(rank->spawn, rank->job, ask->number, spawn_done, rank);
        if (wrong != NULL) {
            rank->spawns = false;
            sx_run_job_drop(rank->job);
        }
    }
    return wrong == NULL ? waits : wrong;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum need {
    NEEDS_VERSION = 1 << 0,
    NEEDS_JOB = 1 << 1,
    NEEDS_KEY = 1 << 2,
    NEEDS_VALUE = 1 << 3,
    NEEDS_SERVICE = 1 << 4,
    NEEDS_PORT = 1 << 5,
    NEEDS_CODE = 1 << 6,
};

static const struct {
    const char *key;
    size_t size_max; /* including the end */
} needs[] = {
    { "pmi_version", 16 },          { "kvsname", NAME_MAX_BYTES }, { "key", KEY_MAX_BYTES },
    { "value", VALUE_MAX_BYTES },   { "service", NAME_MAX_BYTES }, { "port", VALUE_MAX_BYTES },
    { "exitcode", NAME_MAX_BYTES },
};

static const struct command {
    const char *name, *answer;
    unsigned needs;
    bool before_init;
    const char *(*fn)(struct ask *ask);
} commands[] = {
    { "init", "response_to_init", NEEDS_VERSION, true, do_init },
    { "get_maxes", "maxes", 0, false, do_maxes },
    { "get_appnum", "appnum", 0, false, do_appnum },
    { "get_universe_size", "universe_size", 0, false, do_universe },
    { "get_my_kvsname", "my_kvsname", 0, false, do_name },
    { "put", "put_result", NEEDS_JOB | NEEDS_KEY | NEEDS_VALUE, false, do_put },
    { "get", "get_result", NEEDS_JOB | NEEDS_KEY, false, do_get },
    { "barrier_in", "barrier_out", 0, false, do_barrier },
    { "finalize", "finalize_ack", 0, false, do_finalize },
    { "abort", "abort_result", NEEDS_CODE, true, do_abort },
    { "publish_name", "publish_result", NEEDS_SERVICE | NEEDS_PORT, false, do_publish },
    { "unpublish_name", "unpublish_result", NEEDS_SERVICE, false, do_unpublish },
    { "lookup_name", "lookup_result", NEEDS_SERVICE, false, do_lookup },
    { "spawn", "spawn_result", 0, false, do_spawn },
};

/* Return: the error, or NULL. */
static const char *check(const struct command *command, const struct ask *ask)
{
    if (!command->before_init && ask->rank->state != CLIENT) {
        return "init_comes_first";
    }
    for (size_t i = 0; i < SX_COUNT(needs); i++) {
        const char *const value = word(ask, needs[i].key);

        if ((command->needs & 1u << i) == 0) {
            continue;
        }
        if (value == NULL) {
            return "a_word_is_missing";
        }
        if (strlen(value) >= needs[i].size_max) {
            return "a_word_is_too_long";
        }
    }
    return NULL;
}

static const struct command *command_of(const char *name)
{
    for (size_t i = 0; i < SX_COUNT(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static void answer(struct rank *rank, const char *name, const struct sx_run_pmi1_line *line)
{
    struct ask ask = {
        .job = rank->job, .rank = rank, .number = number_of(rank), .line = line, .more = ""
    };
    const struct command *const command = command_of(name);
    const char *wrong;

    if (command == NULL) {
        say_line(rank, "cmd=%.64s_result rc=1 msg=unknown_command\n", name);
        return;
    }
    wrong = check(command, &ask);
    if (wrong == NULL) {
        wrong = command->fn(&ask);
    }
    if (wrong == NULL) {
        say_line(rank, "cmd=%s rc=0%s%s\n", command->answer, ask.more[0] == '\0' ? "" : " ",
                 ask.more);
    } else if (wrong != waits) {
        say_line(rank, "cmd=%s rc=1 msg=%s\n", command->answer, wrong);
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const char no_pmi1[] = "what is no PMI-1";
static const char long_line[] = "a line of more than 4096 bytes";
static_assert(SX_RUN_PMI1_LINE_MAX == 4096, "it is said above");

/* The working directory of the rank's process, which PMI-1 does not transmit.  Return: NULL if the
 * directory cannot be entered. */
static const char *folder_of(const struct rank *rank, char folder[PATH_MAX])
{
    char link[64];
    ssize_t len;

    snprintf(link, sizeof(link), "/proc/%d/cwd", (int)rank->job->ranks[number_of(rank)].pid);
    len = readlink(link, folder, PATH_MAX - 1);
    folder[len < 0 ? 0 : len] = '\0';
    return len > 0 && access(folder, X_OK) == 0 ? folder : NULL;
}

static void many_begin(struct rank *rank, const char *name)
{
    char folder[PATH_MAX];

    if (rank->spawn == NULL) {
        rank->spawn = sx_run_pmi1_spawn_new();
    }
    sx_run_pmi1_spawn_begin(rank->spawn, folder_of(rank, folder));
    rank->many = true;
    snprintf(rank->many_name, sizeof(rank->many_name), "%s", name);
}

/* A line inside of an mcmd. */
static void many_line(struct rank *rank, char *text)
{
    const struct sx_run_pmi1_line none = { .count = 0 };

    rank->many = !sx_run_pmi1_spawn_line(rank->spawn, text);
    if (!rank->many && sx_run_pmi1_spawn_is_whole(rank->spawn)) {
        answer(rank, rank->many_name, &none);
        rank->spawn = sx_run_pmi1_spawn_free(rank->spawn);
    }
}

/* Return: NULL, or the error in it. */
static const char *take_line(struct rank *rank, char *text)
{
    struct sx_run_pmi1_line line;

    if (rank->many) {
        many_line(rank, text);
        return NULL;
    }
    if (!sx_run_pmi1_line_parse(&line, text)) {
        return no_pmi1;
    }
    if (strcmp(line.words[0].key, "cmd") == 0) {
        answer(rank, line.words[0].value, &line);
        return NULL;
    }
    if (strcmp(line.words[0].key, "mcmd") == 0) {
        many_begin(rank, line.words[0].value);
        return NULL;
    }
    return no_pmi1;
}

static void line_room(struct line *line, size_t need)
{
    while (line->room < need) {
        line->room = line->room == 0 ? 256 : 2 * line->room;
    }
    line->text = sx_cli_realloc(line->text, line->room, 1);
}

static const char abort_command[] = "cmd=abort ";

/* MPICH's message of an abort may have any length: its beginning is enough. */
static bool is_abort(const struct line *line)
{
    return line->used >= strlen(abort_command) &&
           memcmp(line->text, abort_command, strlen(abort_command)) == 0;
}

static void line_add(struct line *line, const char *bytes, size_t size)
{
    line_room(line, line->used + size + 1);
    memcpy(line->text + line->used, bytes, size);
    line->used += size;
}

/* Take a part of a line.  Return: NULL, or the error in it. */
static const char *take_part(struct rank *rank, const char *bytes, size_t size)
{
    struct line *const line = &rank->line;
    const size_t max = rank->many ? SX_RUN_PMI1_SPAWN_LINE_MAX : SX_RUN_PMI1_LINE_MAX;

    if (memchr(bytes, '\0', size) != NULL) {
        return no_pmi1;
    }
    if (!rank->many && size > max - line->used) {
        line_add(line, bytes, max - line->used);
        return is_abort(line) ? NULL : long_line;
    }
    line->is_long = line->is_long || size > max - line->used;
    if (!line->is_long) {
        line_add(line, bytes, size);
    }
    return NULL;
}

/* The unfinished line is complete.  Return: NULL, or the error in it. */
static const char *finish_line(struct rank *rank)
{
    struct line line = rank->line;
    const char *wrong = NULL;

    rank->line = (struct line){ .text = NULL };
    if (line.is_long) {
        sx_run_pmi1_spawn_long(rank->spawn);
    } else {
        line.text[line.used] = '\0';
        wrong = take_line(rank, line.text);
    }
    free(line.text);
    return wrong;
}

/* Return: NULL, or the error in them. */
static const char *take_bytes(struct rank *rank, const char *bytes, size_t size)
{
    const char *const end = bytes + size, *wrong = NULL;

    while (bytes < end && rank->watch.fd >= 0 && wrong == NULL && !rank->aborted) {
        const char *const newline = memchr(bytes, '\n', (size_t)(end - bytes));
        const size_t part = (size_t)((newline == NULL ? end : newline) - bytes);

        wrong = take_part(rank, bytes, part);
        bytes += part + 1;
        if (wrong == NULL && newline != NULL) {
            wrong = finish_line(rank);
        }
    }
    return wrong;
}

/* Read once.  Return: false when nothing was read, now or because the connection has ended. */
static bool read_some(struct rank *rank)
{
    char bytes[READ_BYTES];
    const ssize_t got = rank->watch.fd < 0
                            ? 0
                            : recv(rank->watch.fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return false;
    }
    if (got <= 0) {
        lost(rank);
        return false;
    }
    const char *const wrong = take_bytes(rank, bytes, (size_t)got);

    if (wrong != NULL) {
        sx_run_say_of(rank->job,
                      "%srank %" PRIu32 " has written to PMI_FD %s; its connection is closed",
                      rank->job->prefix, number_of(rank), wrong);
        lost(rank);
    }
    return true;
}

static void receive(void *arg, uint32_t revents, uint64_t now_ns)
{
    (void)revents;
    (void)now_ns;
    read_some(arg);
}

void sx_run_pmi1_receive_last(struct sx_run_job *job, uint32_t rank)
{
    struct rank *const its = &pmi1_of(job)->ranks[rank];
    int reads = 0;

    while (its->watch.fd >= 0 && reads++ < 64 && read_some(its)) {
    }
}
