/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* metrics.c - a sample as OpenMetrics text, for a collector of text files.
 *
 * Servers and jobs are labelled; ranks are summed by job, as a label for each would make a series
 * for each process that ever ran. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/util.h"
#include "cli/top/top.h"

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

/* The text of a label: a backslash, a quote and a line's end are escaped. */
static void label_print(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s=\"", name);
    for (; *text != '\0'; text++) {
        if (*text == '\\' || *text == '"') {
            fprintf(out, "\\%c", *text);
        } else if (*text == '\n') {
            fputs("\\n", out);
        } else {
            fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
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

void sx_top_metrics(const struct sx_top_sample *sample, FILE *out)
{
    static const struct family open = { "shmix_open_collectives", "gauge",
                                        "Collective operations that some member has not reached.",
                                        U64, 0 };
    static const struct family oldest = { "shmix_open_collective_seconds_max", "gauge",
                                          "How long the oldest of them is open.", U64, 0 };
    const uint64_t now_ns = sx_now_ns();
    const uint64_t since_ns = sample->op_count > 0 ? sample->ops[0].op.since_ns : now_ns;

    servers_print(sample, out);
    jobs_print(sample, out);
    family_begin(out, &open);
    fprintf(out, "%s %zu\n", open.name, sample->op_count);
    family_begin(out, &oldest);
    fprintf(out, "%s %.3f\n# EOF\n", oldest.name,
            now_ns > since_ns ? (double)(now_ns - since_ns) / (double)SX_NS_PER_SEC : 0);
}
