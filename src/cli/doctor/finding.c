/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* finding.c - the kinds of findings: how bad, why it matters, what to do; how one is printed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "launch/common/say.h"

const struct sx_doctor_row sx_doctor_rows[SX_DOCTOR_KINDS] = {
    [SX_DOCTOR_IO_URING] = { "io-uring", SX_DOCTOR_NOTE,
                             "servers wait with epoll, which costs a few more system calls a turn",
                             "nothing has to be done; allow io_uring for fewer system calls" },
    [SX_DOCTOR_FUTEX_WAITV] = { "futex-waitv", SX_DOCTOR_NOTE,
                                "a process with handlers of several events wakes for all of them",
                                "nothing has to be done; Linux 5.16 and later have the call" },
    [SX_DOCTOR_MEMFD] = { "memfd", SX_DOCTOR_PROBLEM,
                          "all data lies in sealed memfds: no server can start here",
                          "allow memfd_create and its seals (seccomp filter, container profile)" },
    [SX_DOCTOR_PIDFD] = { "pidfd", SX_DOCTOR_WARNING, "the death of a rank is noticed later",
                          "use Linux 5.3 or later, or allow pidfd_open in the seccomp filter" },
    [SX_DOCTOR_PROC] = { "proc", SX_DOCTOR_WARNING,
                         "'shmix ls', 'get', 'mem' and tools find servers through /proc",
                         "mount /proc, without hidepid for those who look after jobs" },
    [SX_DOCTOR_SECCOMP] = { "seccomp", SX_DOCTOR_NOTE,
                            "a call that it refuses is replaced by a slower one where there is one",
                            "nothing has to be done; SECURITY.md lists the calls that are used" },
    [SX_DOCTOR_NOFILE] = { "nofile", SX_DOCTOR_WARNING,
                           "a server needs descriptors for each rank of its node; without, ranks "
                           "are refused",
                           "ulimit -n 65536, or LimitNOFILE= of the service" },
    [SX_DOCTOR_NPROC] = { "nproc", SX_DOCTOR_WARNING,
                          "ranks and their threads count; 'shmix run' cannot start the rest",
                          "ulimit -u unlimited, or TasksMax= of the service" },
    [SX_DOCTOR_MEMLOCK] = { "memlock", SX_DOCTOR_NOTE,
                            "before Linux 5.12 the memory of io_uring counts against it, and the "
                            "server uses epoll instead",
                            "ulimit -l 8192" },
    [SX_DOCTOR_MAPS] = { "maps", SX_DOCTOR_WARNING,
                         "a process maps a few segments for each job and each peer that it reads",
                         "sysctl vm.max_map_count=65530" },
    [SX_DOCTOR_OVERCOMMIT] = { "overcommit", SX_DOCTOR_WARNING,
                               "memory is refused though it is free, as the reserve of each "
                               "process counts in full",
                               "sysctl vm.overcommit_memory=0" },
    [SX_DOCTOR_CGROUP_MEMORY] = { "cgroup-memory", SX_DOCTOR_WARNING,
                                  "the segments of a server count against its group; at the limit "
                                  "values are refused, or a process is killed",
                                  "raise memory.max of the group, or start fewer ranks" },
    [SX_DOCTOR_CGROUP_CPUS] = { "cgroup-cpus", SX_DOCTOR_WARNING,
                                "all processes of the group stop for the rest of each period once "
                                "the quota is used: every fence then waits",
                                "remove cpu.max of the group, or limit it by cpuset.cpus instead" },
    [SX_DOCTOR_CLOCK] = { "clock", SX_DOCTOR_WARNING,
                          "reading the time is a system call: time limits and MPI_Wtime cost "
                          "microseconds",
                          "boot with clocksource=tsc, if the processors' clocks agree" },
    [SX_DOCTOR_NUMA_BALANCING] = { "numa-balancing", SX_DOCTOR_WARNING,
                                   "the kernel unmaps pages to see who uses them: segments that "
                                   "many ranks read move, and readers fault",
                                   "sysctl kernel.numa_balancing=0" },
    [SX_DOCTOR_THP] = { "thp", SX_DOCTOR_NOTE,
                        "each segment takes whole huge pages, so small jobs take more memory",
                        "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled" },
    [SX_DOCTOR_TMPDIR] = { "tmpdir", SX_DOCTOR_PROBLEM,
                           "'shmix run' makes its session directory there, and does not start",
                           "set TMPDIR to a directory that you may write" },
    [SX_DOCTOR_SPACE] = { "space", SX_DOCTOR_WARNING,
                          "session files or MPI's shared memory may not fit: ranks die of SIGBUS "
                          "or are refused",
                          "remove what is not needed ('shmix doctor' names left-overs), or make it "
                          "larger" },
    [SX_DOCTOR_LIBRARIES] = { "libraries", SX_DOCTOR_WARNING,
                              "a server without it has no topology (hwloc), no io_uring "
                              "(liburing), no placement (libnuma) or no compression (zlib)",
                              "install the package" },
    [SX_DOCTOR_MCA] = { "mca", SX_DOCTOR_NOTE,
                        "this library has no MCA parameters and reads none of these variables",
                        "shmix(1) has the variables that do something similar" },
    [SX_DOCTOR_UNREAD] = { "unread", SX_DOCTOR_WARNING,
                           "nothing of this version reads a variable of that name: it has no "
                           "effect, and may be misspelt",
                           "shmix(1) has the variables that are read" },
    [SX_DOCTOR_OTHER_SERVER] = { "other-server", SX_DOCTOR_WARNING,
                                 "a program that is started in this shell takes itself for a rank "
                                 "of that server, which may be gone",
                                 "unset the variables, or leave the shell of that job" },
    [SX_DOCTOR_SESSION] = { "session", SX_DOCTOR_WARNING,
                            "a launcher was killed together with its janitor, and files stayed",
                            "the next 'shmix run' of its user with this TMPDIR removes it; or rm "
                            "-r" },
    [SX_DOCTOR_CONTACT] = { "contact", SX_DOCTOR_WARNING,
                            "a server was killed; tools find its file and have to go on looking",
                            "the next server of its user there removes it; or rm" },
    [SX_DOCTOR_SERVER_STOPPED] = { "server-stopped", SX_DOCTOR_PROBLEM,
                                   "no fence ends, no event is passed on, nobody can connect",
                                   "kill -CONT, or leave the debugger" },
    [SX_DOCTOR_LAYOUT] = { "layout", SX_DOCTOR_PROBLEM,
                           "its segments have another layout: this command cannot read them, and "
                           "ranks with this library cannot connect",
                           "use the shmix that belongs to the server's library" },
    [SX_DOCTOR_RANK_STOPPED] = { "rank-stopped", SX_DOCTOR_WARNING,
                                 "it does not call and does not answer; others will wait for it",
                                 "kill -CONT, or leave the debugger" },
    [SX_DOCTOR_MEMBER_MISSING] = { "member-missing", SX_DOCTOR_PROBLEM,
                                   "the others wait for a process that does not run",
                                   "'shmix ls collectives' has all who are missing; kill -CONT it, "
                                   "or end the job: shmix kill JOB" },
    [SX_DOCTOR_MEMBER_LATE] = { "member-late", SX_DOCTOR_WARNING,
                                "the others wait; it computes, or it hangs somewhere else",
                                "'shmix ls collectives' has all who are missing; 'shmix stack JOB' "
                                "shows where each is" },
    [SX_DOCTOR_HOST_LATE] = { "host-late", SX_DOCTOR_WARNING,
                              "all ranks here have arrived; the host (or another node) has not "
                              "answered the server",
                              "look at the host's log, and at the other nodes" },
    [SX_DOCTOR_LANE_FULL] = { "lane-full", SX_DOCTOR_WARNING,
                              "a client has written faster than its server reads, and waits",
                              "see whether the server runs ('shmix ls servers') and has a CPU" },
    [SX_DOCTOR_EVENTS_HELD] = { "events-held", SX_DOCTOR_WARNING,
                                "a rank does not handle its events: they are kept for it, until "
                                "older ones are dropped",
                                "see which rank does not run: 'shmix ls procs'" },
    [SX_DOCTOR_EVENTS_LOST] = { "events-lost", SX_DOCTOR_WARNING,
                                "handlers that are registered late do not get those events",
                                "raise SHMIX_SERVER_CACHE_BYTES (shmix(1)) for the server, or "
                                "publish fewer events" },
    [SX_DOCTOR_LIBRARY_MIXED] = { "library-mixed", SX_DOCTOR_WARNING,
                                  "ranks of one server run different builds of this library",
                                  "set LD_LIBRARY_PATH alike for all, or remove the older build" },
    [SX_DOCTOR_LIBRARY_DELETED] = { "library-deleted", SX_DOCTOR_WARNING,
                                    "its file was replaced while the process ran: what is started "
                                    "from now on has another one",
                                    "start the job, or the host, again" },
    [SX_DOCTOR_LIBRARY_FOREIGN] = { "library-foreign", SX_DOCTOR_NOTE,
                                    "gateways serve ranks that carry another PMIx library: their "
                                    "calls cost as much as there",
                                    "LD_PRELOAD this library where the program permits it" },
    [SX_DOCTOR_OVERSUBSCRIBED] = { "oversubscribed", SX_DOCTOR_WARNING,
                                   "ranks that poll take the CPU from those they wait for: a fence "
                                   "then takes time slices, not microseconds",
                                   "start fewer ranks, or let them yield (Open MPI: "
                                   "mpi_yield_when_idle 1)" },
};

const char *sx_doctor_level_name(enum sx_doctor_level level)
{
    static const char *const names[SX_DOCTOR_LEVELS] = { "note", "warning", "problem" };

    return names[level];
}

/* ---- printing -------------------------------------------------------------------------------- */

static void json_field(const char *name, const char *text)
{
    printf(",\"%s\":", name);
    sx_json_string(text, strlen(text));
}

static void finding_json(const struct sx_doctor_row *row, const char *what)
{
    printf("{\"kind\":\"%s\",\"level\":\"%s\"", row->name, sx_doctor_level_name(row->level));
    if (what != NULL) {
        json_field("what", what);
    }
    json_field("why", row->why);
    json_field("do", row->remedy);
    printf("}\n");
}

/* Print @text in lines of at most 90 columns, each begun with blanks; the first is begun. */
static void wrapped_print(const char *text)
{
    const size_t indent = 13, width = 90 - indent;

    while (strlen(text) > width) {
        size_t cut = width;

        while (cut > 0 && text[cut] != ' ') {
            cut--;
        }
        if (cut == 0) {
            cut = width; /* one long word, as a path */
        }
        printf("%.*s\n%*s", (int)cut, text, (int)indent, "");
        text += cut + (text[cut] == ' ');
    }
    printf("%s\n", text);
}

static void finding_text(const struct sx_doctor_row *row, const char *what)
{
    printf("%-8s %s%s%s\n", sx_doctor_level_name(row->level), row->name, what != NULL ? ": " : "",
           what != NULL ? what : "");
    printf("%8s why: ", "");
    wrapped_print(row->why);
    printf("%8s do:  ", "");
    wrapped_print(row->remedy);
}

void sx_doctor_print(const struct sx_doctor_row *row, const char *what, bool json)
{
    if (json) {
        finding_json(row, what);
    } else {
        finding_text(row, what);
    }
}

/* Names are other processes'. */
static void controls_remove(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at;
    }
}

/* The remedy of @row with the name of @job in the place of JOB.  Return: malloc'ed. */
static char *remedy_for(const struct sx_doctor_row *row, const char *job)
{
    const char *const hole = job != NULL ? strstr(row->remedy, "JOB") : NULL;
    char *const remedy = hole == NULL ? sx_cli_strdup(row->remedy)
                                      : sx_cli_printf("%.*s%.255s%s", (int)(hole - row->remedy),
                                                      row->remedy, job, hole + strlen("JOB"));

    controls_remove(remedy);
    return remedy;
}

void sx_doctor_find(struct sx_doctor *doctor, enum sx_doctor_kind kind, const char *fmt, ...)
{
    const struct sx_doctor_row *const row = &sx_doctor_rows[kind];
    va_list args;

    if (doctor->of_kind[kind]++ >= SX_DOCTOR_SAME_MAX) {
        return;
    }
    doctor->counts[row->level]++;
    va_start(args, fmt);
    char *const what = sx_cli_vprintf(fmt, args);

    va_end(args);
    char *const remedy = remedy_for(row, doctor->job);

    controls_remove(what);
    sx_doctor_print(&(struct sx_doctor_row){ row->name, row->level, row->why, remedy }, what,
                    doctor->json);
    free(remedy);
    free(what);
}
