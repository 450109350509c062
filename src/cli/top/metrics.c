/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* metrics.c - a sample as OpenMetrics text, for a collector of text files.
 *
 * Servers and jobs are labelled; ranks are summed by job, as a label for each would make a series
 * for each process that ever ran. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "base/util.h"
#include "cli/top/top.h"
#include "launch/common/say.h"
#include "ring/open_ops.h"

/* A family of samples: its values are read at @off of the servers, or jobs, as @kind. */
enum kind { U32, U64, NS, UINT };

struct family {
    const char *name, *type, *help;
    enum kind kind;
    size_t off;
};

#define SERVER(member) offsetof(struct sx_top_server, member)
#define JOB(member) offsetof(struct sx_top_job, member)

static const struct family of_servers[] = {
    { "shmix_server_jobs", "gauge", "Jobs that are registered.", UINT, SERVER(jobs) },
    { "shmix_server_clients", "gauge", "Connected processes.", UINT, SERVER(clients) },
    { "shmix_server_cpu_seconds", "counter", "CPU time of the process.", NS,
      SERVER(process.cpu_ns) },
    { "shmix_server_resident_bytes", "gauge", "Resident memory of the process.", U64,
      SERVER(process.rss_bytes) },
    { "shmix_server_stored_bytes", "gauge", "Bytes in use in its stores.", U64,
      SERVER(used_bytes[SX_TOP_STORES]) },
    { "shmix_server_turn_units_max", "gauge", "The most work of one turn of its loop.", U64,
      SERVER(turn_units_max) },
    { "shmix_server_events_crowded_out", "counter", "Kept events dropped for want of bytes.", U64,
      SERVER(events_crowded_out) },
};

static const struct family of_jobs[] = {
    { "shmix_job_size", "gauge", "Ranks of the job, on all nodes.", U32, JOB(size) },
    { "shmix_job_ranks_running", "gauge", "Processes here that run.", U32, JOB(running) },
    { "shmix_job_ranks_stopped", "gauge", "Processes here that are stopped.", U32, JOB(stopped) },
    { "shmix_job_resident_bytes", "gauge", "Resident memory of its processes here.", U64,
      JOB(rss_bytes) },
    { "shmix_job_stored_bytes", "gauge", "Bytes in use in its store.", U64, JOB(stored_bytes) },
    { "shmix_job_collectives", "counter", "Ends of collective operations.", U64, JOB(collectives) },
    { "shmix_job_events", "counter", "Records of events.", U64, JOB(events) },
    { "shmix_job_events_held", "gauge", "Events kept until all ranks here have had them.", U64,
      JOB(events_held) },
};

/* The text of a label, in UTF-8.  Control characters and other bytes are \xNN in it and a backslash
 * is \\, so that two names stay two series; the format then escapes each backslash, quote and
 * line's end. */
static void label_print(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s=\"", name);
    for (size_t left = strlen(text), len; left > 0; text += len, left -= len) {
        uint32_t code = 0;
        const size_t size = sx_utf8_read((const unsigned char *)text, left, &code);
        const bool is_text = size > 0 && code >= 0x20 && (code < 0x7f || code >= 0xa0);

        len = is_text ? size : 1;
        if (*text == '\n') {
            fputs("\\n", out);
        } else if (!is_text) {
            fprintf(out, "\\\\x%02x", (unsigned char)*text);
        } else if (code == '\\') {
            fputs("\\\\\\\\", out);
        } else if (code == '"') {
            fputs("\\\"", out);
        } else {
            fwrite(text, 1, size, out);
        }
    }
    fputc('"', out);
}

static void value_print(FILE *out, const struct family *family, const void *row)
{
    const char *const at = (const char *)row + family->off;

    switch (family->kind) {
    case U32:
        fprintf(out, " %" PRIu32 "\n", *(const uint32_t *)(const void *)at);
        break;
    case UINT:
        fprintf(out, " %u\n", *(const unsigned *)(const void *)at);
        break;
    case U64:
        fprintf(out, " %" PRIu64 "\n", *(const uint64_t *)(const void *)at);
        break;
    default:
        fprintf(out, " %.9g\n",
                (double)*(const uint64_t *)(const void *)at / (double)SX_NS_PER_SEC);
    }
}

static void family_begin(FILE *out, const struct family *family)
{
    fprintf(out, "# TYPE %s %s\n# HELP %s %s\n", family->name, family->type, family->name,
            family->help);
}

static void name_print(FILE *out, const struct family *family)
{
    fprintf(out, "%s%s{", family->name, family->type[0] == 'c' ? "_total" : "");
}

static void servers_print(const struct sx_top_sample *sample, FILE *out)
{
    for (size_t i = 0; i < SX_COUNT(of_servers); i++) {
        family_begin(out, &of_servers[i]);
        for (size_t j = 0; j < sample->server_count; j++) {
            const struct sx_top_server *const server = &sample->servers[j];

            name_print(out, &of_servers[i]);
            fprintf(out, "pid=\"%d\",uid=\"%u\",", (int)server->process.pid,
                    (unsigned)server->process.uid);
            label_print(out, "name", server->name);
            fputc('}', out);
            value_print(out, &of_servers[i], server);
        }
    }
}

static void jobs_print(const struct sx_top_sample *sample, FILE *out)
{
    for (size_t i = 0; i < SX_COUNT(of_jobs); i++) {
        family_begin(out, &of_jobs[i]);
        for (size_t j = 0; j < sample->job_count; j++) {
            const struct sx_top_job *const job = &sample->jobs[j];

            name_print(out, &of_jobs[i]);
            label_print(out, "nspace", job->name);
            fprintf(out, ",server=\"%d\",uid=\"%u\"}", (int)job->server, (unsigned)job->uid);
            value_print(out, &of_jobs[i], job);
        }
    }
}

static void connected_print(const struct sx_top_sample *sample, FILE *out)
{
    static const struct family family = { "shmix_job_ranks_connected", "gauge",
                                          "Ranks here between PMIx_Init and PMIx_Finalize.", UINT,
                                          0 };
    unsigned *const counts = sx_cli_calloc(sample->job_count + 1, sizeof(*counts));

    for (size_t i = 0; i < sample->rank_count; i++) {
        counts[sample->ranks[i].job] += sample->ranks[i].connected;
    }
    family_begin(out, &family);
    for (size_t i = 0; i < sample->job_count; i++) {
        const struct sx_top_job *const job = &sample->jobs[i];

        name_print(out, &family);
        label_print(out, "nspace", job->name);
        fprintf(out, ",server=\"%d\",uid=\"%u\"}", (int)job->server, (unsigned)job->uid);
        value_print(out, &family, &counts[i]);
    }
    free(counts);
}

/* ---- open operations ------------------------------------------------------------------------- */

static bool is_alike(const struct sx_top_op *a, const struct sx_top_op *b)
{
    return a->server == b->server && a->op.kind == b->op.kind;
}

/* A line for the kind of operation number @first and its server, unless an earlier one has it. */
static void kind_print(const struct sx_top_sample *sample, size_t first,
                       const struct family *family, bool missing, FILE *out)
{
    const struct sx_top_op *const op = &sample->ops[first];
    const char *const kind = sx_collective_name(op->op.kind);
    uint64_t sum = 0;

    for (size_t i = 0; i < sample->op_count; i++) {
        const struct sx_open_op *const other = &sample->ops[i].op;

        if (is_alike(op, &sample->ops[i])) {
            if (i < first) {
                return;
            }
            sum += !missing                           ? 1
                   : other->expected > other->arrived ? other->expected - other->arrived
                                                      : 0;
        }
    }
    name_print(out, family);
    fprintf(out, "server=\"%d\",kind=\"", (int)op->server);
    if (kind != NULL) {
        fputs(kind, out);
    } else {
        fprintf(out, "%" PRIu16, op->op.kind);
    }
    fputs("\"}", out);
    value_print(out, family, &sum);
}

static void kinds_print(const struct sx_top_sample *sample, FILE *out)
{
    static const struct family families[] = {
        { "shmix_server_open_collectives", "gauge",
          "Collective operations that some member has not reached, by kind.", U64, 0 },
        { "shmix_server_missing_members", "gauge",
          "Members here that have not called yet what others wait in.", U64, 0 },
    };

    for (size_t i = 0; i < SX_COUNT(families); i++) {
        family_begin(out, &families[i]);
        for (size_t k = 0; k < sample->op_count; k++) {
            kind_print(sample, k, &families[i], i > 0, out);
        }
    }
}

void sx_top_metrics(const struct sx_top_sample *sample, FILE *out)
{
    static const struct family build = { "shmix_build_info", "gauge",
                                         "The version of the command that wrote this.", U64, 0 };
    static const struct family open = { "shmix_open_collectives", "gauge",
                                        "Collective operations that some member has not reached.",
                                        U64, 0 };
    static const struct family oldest = { "shmix_open_collective_seconds_max", "gauge",
                                          "How long the oldest of them is open.", U64, 0 };
    const uint64_t now_ns = sx_now_ns();
    const uint64_t since_ns = sample->op_count > 0 ? sample->ops[0].op.since_ns : now_ns;

    family_begin(out, &build);
    fprintf(out, "%s{version=\"" SHMIX_VERSION "\"} 1\n", build.name);
    servers_print(sample, out);
    jobs_print(sample, out);
    connected_print(sample, out);
    kinds_print(sample, out);
    family_begin(out, &open);
    fprintf(out, "%s %" PRIu64 "\n", open.name, sample->op_count + sample->op_hidden);
    family_begin(out, &oldest);
    fprintf(out, "%s %.3f\n# EOF\n", oldest.name,
            now_ns > since_ns ? (double)(now_ns - since_ns) / (double)SX_NS_PER_SEC : 0);
}
