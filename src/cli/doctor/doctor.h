/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* doctor.h - `shmix doctor`: findings, what each means, and the checks that make them.
 *
 *     a check (node.c, leftovers.c, jobs.c) --what it sees--> sx_doctor_find --the row of the
 *     finding's kind (finding.c): why it matters, what to do--> text, or JSON
 *
 * A check says what is so here; all that is always the same about a finding stands in its row. */
#ifndef SX_CLI_DOCTOR_DOCTOR_H
#define SX_CLI_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum sx_doctor_level { SX_DOCTOR_NOTE, SX_DOCTOR_WARNING, SX_DOCTOR_PROBLEM, SX_DOCTOR_LEVELS };

enum sx_doctor_kind {
    /* the kernel and this process's limits */
    SX_DOCTOR_IO_URING,
    SX_DOCTOR_FUTEX_WAITV,
    SX_DOCTOR_MEMFD,
    SX_DOCTOR_PIDFD,
    SX_DOCTOR_PROC,
    SX_DOCTOR_SECCOMP,
    SX_DOCTOR_NOFILE,
    SX_DOCTOR_NPROC,
    SX_DOCTOR_MEMLOCK,
    SX_DOCTOR_MAPS,
    SX_DOCTOR_OVERCOMMIT,
    SX_DOCTOR_CGROUP_MEMORY,
    SX_DOCTOR_CGROUP_CPUS,
    /* the machine */
    SX_DOCTOR_CLOCK,
    SX_DOCTOR_NUMA_BALANCING,
    SX_DOCTOR_THP,
    SX_DOCTOR_TMPDIR,
    SX_DOCTOR_SPACE,
    SX_DOCTOR_LIBRARIES,
    /* the environment */
    SX_DOCTOR_MCA,
    SX_DOCTOR_UNREAD,
    SX_DOCTOR_OTHER_SERVER,
    /* what ended launchers and servers have left */
    SX_DOCTOR_SESSION,
    SX_DOCTOR_CONTACT,
    /* servers and their jobs */
    SX_DOCTOR_SERVER_STOPPED,
    SX_DOCTOR_LAYOUT,
    SX_DOCTOR_RANK_STOPPED,
    SX_DOCTOR_MEMBER_MISSING,
    SX_DOCTOR_MEMBER_LATE,
    SX_DOCTOR_HOST_LATE,
    SX_DOCTOR_LANE_FULL,
    SX_DOCTOR_EVENTS_HELD,
    SX_DOCTOR_EVENTS_LOST,
    SX_DOCTOR_LIBRARY_MIXED,
    SX_DOCTOR_LIBRARY_DELETED,
    SX_DOCTOR_LIBRARY_FOREIGN,
    SX_DOCTOR_OVERSUBSCRIBED,
    SX_DOCTOR_KINDS
};

struct sx_doctor_row {
    const char *name; /* "io-uring" */
    enum sx_doctor_level level;
    const char *why, *remedy;
};
extern const struct sx_doctor_row sx_doctor_rows[SX_DOCTOR_KINDS];
const char *sx_doctor_level_name(enum sx_doctor_level level);
/* Print a finding; without @what its kind alone. */
void sx_doctor_print(const struct sx_doctor_row *row, const char *what, bool json);

/* A visit. */
struct sx_doctor {
    const char *root;   /* goes before /proc/sys, /sys and the like: "", or a folder of a test */
    const char *nspace; /* the job; NULL: any */
    const char *job;    /* that the next finding is about, for its remedy; NULL: none */
    pid_t server;       /* the one that has it; 0: every server */
    bool json;
    unsigned counts[SX_DOCTOR_LEVELS];
    unsigned of_kind[SX_DOCTOR_KINDS];
};

/* Print a finding.  A kind that is found more than SX_DOCTOR_SAME_MAX times is only counted. */
#define SX_DOCTOR_SAME_MAX 8u
void sx_doctor_find(struct sx_doctor *doctor, enum sx_doctor_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- the checks ------------------------------------------------------------------------------ */

/* The number of CPUs that this process may use, at least 1. */
unsigned sx_doctor_cpus(void);

void sx_doctor_node(struct sx_doctor *doctor);
void sx_doctor_environment(struct sx_doctor *doctor);
void sx_doctor_leftovers(struct sx_doctor *doctor);
void sx_doctor_jobs(struct sx_doctor *doctor);

#endif
