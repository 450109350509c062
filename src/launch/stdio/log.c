/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log.c - stdout, stderr and the file are outlets with a queue each. */
#include "launch/stdio/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pmix.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "base/stream/log_channel.h"
#include "base/stream/log_text.h"
#include "base/value/value.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/file.h"
#include "launch/common/say.h"
#include "launch/job/state.h"
#include "launch/stdio/output.h"

/* In one turn; then other work gets its turn. */
#define WRITES_A_TURN 64u
#define PIECES_A_TURN 4096u

#define GATHER_BYTES 16384u /* short lines that are written at once */
#define READER_WAIT_MS 1000

enum outlet_number { TO_STDOUT, TO_STDERR, TO_FILE, OUTLETS };

struct part {
    struct part *next;
    struct call *call;
    const pmix_info_t *info;
};

/* One call of PMIx_Log; the library owns the infos until the call is answered. */
struct call {
    pmix_proc_t source;
    const pmix_info_t *data;
    size_t ndata;
    struct sx_log_options options;
    time_t when;
    pmix_op_cbfunc_t fn;
    void *arg;
    size_t open; /* parts that have not been written */
    size_t logged;
    pmix_status_t status; /* of a part that could not be written */
    struct part parts[];
};

struct outlet {
    struct part *first, **last; /* under lock */
    bool full;                  /* under lock: there is a part, and the event is set */
    struct sx_run_reads reads;  /* of a stream */
    struct sx_poll poll;        /* of the file */
    struct sx_run_sink *sink;   /* NULL: the file */
    struct sx_log_text text;    /* the rest of the first part, if it has begun */
    bool begun;
};

static struct {
    pthread_mutex_t lock;
    bool ended; /* under lock */
    bool tag_output;
    int file;
    int file_error;           /* errno of a write to the file that failed; 0: none */
    const char *path;         /* of the file; the options own it */
    struct sx_run_state *run; /* while the run has its sinks */
    int event_fds[OUTLETS];
    struct outlet outlets[OUTLETS];
} logs = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .file = -1,
    .event_fds = { -1, -1, -1 },
};

/* ---- calls ----------------------------------------------------------------------------------- */

static void call_end(struct call *call)
{
    call->fn(call->status == PMIX_SUCCESS ? PMIX_SUCCESS
             : call->logged > 0           ? PMIX_ERR_PARTIAL_SUCCESS
                                          : call->status,
             call->arg);
    free(call);
}

/* Under lock.  Return: NULL when there is no part. */
static struct part *part_pop_locked(struct outlet *outlet)
{
    struct part *const part = outlet->first;

    if (part != NULL) {
        outlet->first = part->next;
        if (outlet->first == NULL) {
            outlet->last = &outlet->first;
        }
    }
    return part;
}

/* The first part of @outlet has been written, or has failed. */
static void part_end(struct outlet *outlet, pmix_status_t status)
{
    pthread_mutex_lock(&logs.lock);
    struct call *const call = part_pop_locked(outlet)->call;
    const bool over = --call->open == 0;

    call->logged += status == PMIX_SUCCESS;
    call->status = status == PMIX_SUCCESS ? call->status : status;
    pthread_mutex_unlock(&logs.lock);
    outlet->begun = false;
    if (over) {
        call_end(call);
    }
}

static struct part *part_first(struct outlet *outlet)
{
    uint64_t count;

    pthread_mutex_lock(&logs.lock);
    struct part *const part = outlet->first;

    if (part == NULL && outlet->full) {
        outlet->full = false;
        (void)!read(logs.event_fds[outlet - logs.outlets], &count, sizeof(count));
    }
    pthread_mutex_unlock(&logs.lock);
    return part;
}

/* ---- streams --------------------------------------------------------------------------------- */

static void text_begin(const struct part *part, struct outlet *outlet)
{
    const struct call *const call = part->call;
    struct sx_log_style style = { .marks = call->options.marks,
                                  .source = &call->source,
                                  .when = call->when };

    style.marks.tag = style.marks.tag || logs.tag_output;

    sx_log_text_stream(&outlet->text, part->info->value.data.string,
                       outlet == &logs.outlets[TO_STDOUT] ? "stdout" : "stderr", &style);
    outlet->begun = true;
}

/* As many pieces of the text as make one write.  Return: their size; 0: the text has ended. */
static size_t pieces_gather(struct sx_log_text *text, char bytes[GATHER_BYTES + SX_LOG_PIECE_MAX],
                            unsigned *pieces)
{
    size_t size = 0, more = 1;

    while (size < GATHER_BYTES && more > 0 && *pieces < PIECES_A_TURN) {
        more = sx_log_text_next(text, bytes + size);
        size += more;
        ++*pieces;
    }
    return size;
}

static void stream_write(void *arg)
{
    static char bytes[GATHER_BYTES + SX_LOG_PIECE_MAX]; /* only one thread writes */
    struct outlet *const outlet = arg;
    struct part *part;
    unsigned pieces = 0;

    for (unsigned i = 0; i < WRITES_A_TURN && pieces < PIECES_A_TURN && !outlet->sink->paused &&
                         (part = part_first(outlet)) != NULL;
         i++) {
        if (!outlet->begun) {
            text_begin(part, outlet);
        }
        const size_t size = pieces_gather(&outlet->text, bytes, &pieces);

        if (size > 0) {
            sx_run_sink_put(outlet->sink, outlet, bytes, size);
        } else {
            part_end(outlet, outlet->sink->error == 0 ? PMIX_SUCCESS
                                                      : sx_status_from_errno(outlet->sink->error));
        }
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static void string_put(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\":", name);
    sx_json_string_to(out, text, strlen(text));
}

/* Print the other infos of the call, which describe this record. */
static void data_put(FILE *out, const struct call *call)
{
    const char *comma = "";

    fprintf(out, "\"data\":{");
    for (size_t i = 0; i < call->ndata; i++) {
        const pmix_info_t *const info = &call->data[i];
        const bool is_text = info->value.type == PMIX_STRING;
        const struct sx_log_channel *const channel = sx_log_channel_find(info->key);

        if (channel != NULL && channel->run == SX_LOGS_RECORDS) {
            continue;
        }
        char *const text = is_text
                               ? sx_cli_strdup(
                                     info->value.data.string == NULL ? "" : info->value.data.string)
                               : sx_value_print(&info->value);

        fputs(comma, out);
        comma = ",";
        sx_json_string_to(out, info->key, strlen(info->key));
        putc(':', out);
        sx_json_string_to(out, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
        free(text);
    }
    putc('}', out);
}

/* Return: a malloc'ed line. */
static char *record_make(const struct part *part, size_t *ret_size)
{
    const struct call *const call = part->call;
    char *line = NULL, time[64];
    FILE *const out = open_memstream(&line, ret_size);

    if (out == NULL) {
        sx_cli_no_memory();
    }
    sx_log_time(call->when, time, sizeof(time));
    putc('{', out);
    string_put(out, "time", time);
    putc(',', out);
    string_put(out, "channel", sx_log_channel_find(part->info->key)->name);
    putc(',', out);
    string_put(out, "nspace", call->source.nspace);
    fprintf(out, ",\"rank\":%u,", call->source.rank);
    if (part->info->value.type == PMIX_STRING) {
        string_put(out, "text", part->info->value.data.string);
    } else {
        data_put(out, call);
    }
    fputs("}\n", out);
    if (fclose(out) != 0 || line == NULL) {
        sx_cli_no_memory();
    }
    return line;
}

/* As for a file of --output: one message, and an exit code for lost output. */
static void file_failed(int why)
{
    logs.file_error = why;
    logs.run->output_lost = true;
    sx_run_say(logs.run, "cannot write to '%.300s' (--log): %s; what comes for it is lost",
               logs.path, strerror(why));
}

/* Give up a pipe whose reader takes nothing for READER_WAIT_MS.  Return: 0 or errno. */
static int record_write(const char *line, size_t size)
{
    while (size > 0) {
        const ssize_t wrote = write(logs.file, line, size);
        struct pollfd room = { .fd = logs.file, .events = POLLOUT };

        if (wrote < 0 && errno == EAGAIN && poll(&room, 1, READER_WAIT_MS) != 0) {
            continue;
        }
        if (wrote < 0 && errno != EINTR) {
            return errno;
        }
        line += wrote < 0 ? 0 : wrote;
        size -= wrote < 0 ? 0 : (size_t)wrote;
    }
    return 0;
}

static void file_write(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct outlet *const outlet = arg;
    const struct part *const part = part_first(outlet);
    size_t size;

    (void)revents;
    (void)now_ns;
    if (part == NULL) {
        return;
    }
    if (logs.file_error == 0) { /* else the last record may be cut: add nothing behind it */
        char *const line = record_make(part, &size);
        const int why = record_write(line, size);

        free(line);
        if (why != 0) {
            file_failed(why);
        }
    }
    part_end(outlet, logs.file_error == 0 ? PMIX_SUCCESS : sx_status_from_errno(logs.file_error));
}

/* ---- the entry ------------------------------------------------------------------------------- */

static enum outlet_number outlet_of(const pmix_info_t *info)
{
    const struct sx_log_channel *const channel = sx_log_channel_find(info->key);

    if (channel == NULL) {
        return OUTLETS; /* it belongs to a record */
    }
    return channel->run == SX_LOGS_RECORDS ? TO_FILE
           : channel->way == SX_LOG_STDOUT ? TO_STDOUT
           : channel->way == SX_LOG_STDERR ? TO_STDERR
                                           : OUTLETS;
}

static void part_add_locked(struct call *call, const pmix_info_t *info)
{
    const enum outlet_number to = outlet_of(info);
    const uint64_t one = 1;

    if (to == OUTLETS || logs.event_fds[to] < 0) {
        return;
    }
    struct outlet *const outlet = &logs.outlets[to];
    struct part *const part = &call->parts[call->open++];

    *part = (struct part){ .call = call, .info = info };
    *outlet->last = part;
    outlet->last = &part->next;
    if (!outlet->full) {
        outlet->full = true;
        (void)!write(logs.event_fds[to], &one, sizeof(one));
    }
}

void sx_run_log(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct call *const call = sx_cli_calloc(1, sizeof(*call) + ndata * sizeof(call->parts[0]));

    *call = (struct call){ .source = *client,
                           .data = data,
                           .ndata = ndata,
                           .when = time(NULL),
                           .fn = cbfunc,
                           .arg = cbdata };
    /* The server has checked all directives except its own. */
    (void)sx_options_read(SX_OF_LOG, directives, ndirs, &call->options);
    if (call->options.when != NULL && call->options.when->value.type == PMIX_TIME &&
        !call->options.stamp_now) {
        call->when = call->options.when->value.data.time;
    }
    pthread_mutex_lock(&logs.lock);
    for (size_t i = 0; i < ndata && !logs.ended; i++) {
        part_add_locked(call, &data[i]);
    }
    const bool any = call->open > 0;

    pthread_mutex_unlock(&logs.lock);
    if (!any) {
        call->status = PMIX_ERR_NOT_AVAILABLE;
        call_end(call);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Without a file there is nothing more to do.  Return: as sx_run_log_init. */
static bool file_open(const char *path, char *message)
{
    logs.file_error = 0;
    logs.path = path;
    if (path == NULL) {
        return true;
    }
    /* Do not wait for a pipe without a reader. */
    logs.file = sx_file_open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, false);
    if (logs.file < 0) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "cannot open '%.200s' for --log: %s", path,
                 errno == ENXIO ? "no process reads this pipe" : sx_file_cause(errno));
    }
    return logs.file >= 0;
}

bool sx_run_log_init(const struct sx_run_options *options, char message[SX_RUN_MESSAGE_MAX])
{
    logs.tag_output = options->output.marks.tag;
    for (size_t i = 0; i < OUTLETS; i++) {
        logs.outlets[i] = (struct outlet){ .last = &logs.outlets[i].first, .reads.fd = -1 };
        logs.event_fds[i] = -1;
    }
    for (size_t i = 0; i < OUTLETS; i++) {
        if (i == TO_FILE && options->log == NULL) {
            continue; /* no record comes: there is no file */
        }
        logs.event_fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (logs.event_fds[i] < 0) {
            snprintf(message, SX_RUN_MESSAGE_MAX, "eventfd2: %s: the launcher cannot be woken%s",
                     strerror(errno),
                     errno == EMFILE ? "; raise the limit of open files (ulimit -n)"
                                     : sx_refused_advice(errno));
            return false;
        }
    }
    return file_open(options->log, message);
}

int sx_run_log_open(struct sx_run_state *run)
{
    int why = 0;

    logs.run = run;

    for (size_t i = 0; i < OUTLETS && why == 0; i++) {
        struct outlet *const outlet = &logs.outlets[i];

        outlet->sink = i == TO_FILE ? NULL : run->sink_of[i];
        outlet->poll = (struct sx_poll){ .fd = logs.event_fds[i], .fn = file_write, .arg = outlet };
        outlet->reads = (struct sx_run_reads){ .fd = outlet->poll.fd,
                                               .fn = stream_write,
                                               .arg = outlet };
        if (outlet->poll.fd >= 0) {
            why = i == TO_FILE ? sx_run_watch(&run->loop, &outlet->poll, POLLIN)
                               : sx_run_sink_watch(outlet->sink, &outlet->reads);
        }
    }
    return why;
}

void sx_run_log_close(void)
{
    for (size_t i = 0; i < OUTLETS; i++) {
        struct outlet *const outlet = &logs.outlets[i];

        sx_poll_remove(&outlet->poll);
        if (outlet->sink != NULL) {
            sx_run_sink_unwatch(outlet->sink, &outlet->reads);
        }
    }
}

bool sx_run_log_waits(void)
{
    bool waits = false;

    pthread_mutex_lock(&logs.lock);
    for (size_t i = 0; i < OUTLETS; i++) {
        waits = waits || logs.outlets[i].first != NULL;
    }
    pthread_mutex_unlock(&logs.lock);
    return waits;
}

void sx_run_log_end(void)
{
    pthread_mutex_lock(&logs.lock);
    logs.ended = true;
    pthread_mutex_unlock(&logs.lock);
    for (size_t i = 0; i < OUTLETS; i++) {
        while (logs.outlets[i].first != NULL) { /* nothing is added any more */
            part_end(&logs.outlets[i], PMIX_ERR_NOT_AVAILABLE);
        }
    }
}

void sx_run_log_deinit(void)
{
    for (size_t i = 0; i < OUTLETS; i++) {
        if (logs.event_fds[i] >= 0) {
            close(logs.event_fds[i]);
            logs.event_fds[i] = -1;
        }
    }
    if (logs.file >= 0) {
        close(logs.file);
        logs.file = -1;
    }
}

/* ---- job log --------------------------------------------------------------------------------- */

/* Make a text, and pass it to each channel that is wanted. */

static bool is_wanted(const struct sx_run_job *job, pmix_status_t code, pmix_rank_t rank)
{
    const struct sx_launch_options *const said = &job->request->said;

    switch (code) {
    case PMIX_EVENT_JOB_END:
        return said->log_events || said->log_end;
    case PMIX_EVENT_PROC_TERMINATED:
        return said->log_ranks ||
               (said->log_failures && job->ranks[rank].state != PMIX_PROC_STATE_TERMINATED);
    default:
        return said->log_events;
    }
}

/* Malloc'ed. */
static char *text_of(const struct sx_run_job *job, pmix_status_t code, pmix_rank_t rank)
{
    const char *const name = PMIx_Error_string(code);

    switch (code) {
    case PMIX_EVENT_JOB_END:
        return sx_cli_printf("%s: %s: %s, exit code %d", name, job->nspace,
                             PMIx_Error_string(job->fate), job->failed_code);
    case PMIX_EVENT_PROC_TERMINATED:
        return sx_cli_printf("%s: %s, rank %u: %s, exit code %d", name, job->nspace, rank,
                             PMIx_Proc_state_string(job->ranks[rank].state),
                             job->ranks[rank].exit_code);
    default:
        return sx_cli_printf("%s: %s: %u rank%s of %s", name, job->nspace, job->rank_count,
                             job->rank_count == 1 ? "" : "s", job->apps[0].program[0]);
    }
}

static void written(pmix_status_t status, void *arg)
{
    (void)status;
    PMIx_Info_free(arg, 1);
}

/* To the launcher's own entry, or to the server for the system log. */
static void put(const struct sx_run_job *job, pmix_rank_t rank, const char *key,
                enum sx_log_way way, const char *text)
{
    pmix_info_t *const info = PMIx_Info_create(1);
    pmix_proc_t source;

    if (info == NULL || PMIx_Info_load(info, key, text, PMIX_STRING) != PMIX_SUCCESS) {
        sx_cli_no_memory();
    }
    PMIx_Load_procid(&source, job->nspace, rank);
    if (way == SX_LOG_HOST) {
        sx_run_log(&source, info, 1, NULL, 0, written, info);
    } else if (PMIx_Log_nb(info, 1, NULL, 0, written, info) != PMIX_SUCCESS) {
        written(PMIX_SUCCESS, info);
    }
}

void sx_run_note(const struct sx_run_job *job, pmix_status_t code, pmix_rank_t rank)
{
    const struct sx_run_request *const request = job->request;
    bool any = false;

    if (request == NULL || !is_wanted(job, code, rank)) {
        return;
    }
    const bool records = job->run->setup->options->log != NULL;
    const uint8_t can = SX_LOGS_STREAMS | (records ? SX_LOGS_RECORDS : 0);
    char *const text = text_of(job, code, rank);

    for (size_t i = 0; i < request->ninfo; i++) {
        const struct sx_log_channel *const channel = sx_log_channel_find(request->info[i].key);
        const enum sx_log_way way = sx_log_channel_way(channel, can);

        if (channel != NULL && way != SX_LOG_NOBODY) {
            put(job, rank, channel->key, way, text);
            any = true;
        }
    }
    if (!any) {
        put(job, rank, records ? PMIX_LOG_JOB_RECORD : PMIX_LOG_STDERR, SX_LOG_HOST, text);
    }
    free(text);
}
