/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fault.h - a host in this process, ranks in others, and words in shared memory between them.
 *
 * A test program is run as `PROGRAM CASE` and then plays the host of that case: it starts the
 * server, registers jobs and starts itself again as `PROGRAM --role NAME [ARG]` for each process
 * of a job.  Host and roles share one page of words (struct fault_shared), which does not pass
 * through the library under test: states are gated on there, never on time.
 *
 * Exit status: 0, 1 after a failure with its line on stderr, 77 when the case cannot run here and
 * says why.  Whatever waits is bounded by FAULT_SECONDS for the case as a whole; what was waited
 * for is printed. */
#ifndef SX_TESTS_FAULT_FAULT_H
#define SX_TESTS_FAULT_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix.h>
#include <pmix_server.h>

#define FAULT_SECONDS 200      /* of a case */
#define FAULT_ROLE_SECONDS 150 /* of a process of it, unless it sets another alarm */
#define FAULT_SKIP 77
#define FAULT_PROCS_MAX 64

struct fault_shared {
    _Atomic uint32_t stop;       /* the host asks the fencing ranks to end */
    _Atomic uint32_t last_round; /* rank 0 answers: this round is the last */
    _Atomic uint32_t go;         /* the host lets waiting roles go on */
    _Atomic uint32_t round[FAULT_PROCS_MAX];
    _Atomic uint32_t state[FAULT_PROCS_MAX];   /* a role's own */
    _Atomic int32_t status[FAULT_PROCS_MAX];   /* what a role was told */
    _Atomic uint64_t time_ns[FAULT_PROCS_MAX]; /* when it was told */
    _Atomic uint32_t pid[FAULT_PROCS_MAX];
    _Atomic uint32_t connected, finalized, lost; /* what the server told the host */
    /* events.h: by the number of the role */
    _Atomic uint64_t event_sent[FAULT_PROCS_MAX], event_count[FAULT_PROCS_MAX];
    _Atomic uint64_t event_last[FAULT_PROCS_MAX], event_lost[FAULT_PROCS_MAX];
    _Atomic uint32_t event_ended[FAULT_PROCS_MAX];
    /* attack.h: one attack after the other */
    _Atomic uint32_t attack_begun, attack_admitted, attack_ended, attack_judged;
    _Atomic uint32_t attack_lines; /* log lines it is to cause; FAULT_LINES_ANY */
    char attack_name[128];
    char tmpdir[64];
    char text[4096]; /* the host's words for its test, an URI for example */
};
extern struct fault_shared *fault_shared;

struct fault_case {
    const char *name;
    int (*run)(void); /* 0, FAULT_SKIP */
    int arg;          /* for cases of one function */
};
extern const struct fault_case *fault_case; /* that runs; NULL in a role */
struct fault_role {
    const char *name;
    int (*run)(const char *arg); /* its exit code; @arg is "" without one */
};

/* main() of a test program, whose processes have @roles; of one that has none but the common ones. */
#define FAULT_MAIN(cases, roles)                                                          \
    int main(int argc, char **argv)                                                       \
    {                                                                                     \
        return fault_main(argc, argv, (cases), sizeof(cases) / sizeof(*(cases)), (roles), \
                          sizeof(roles) / sizeof(*(roles)));                              \
    }
#define FAULT_MAIN_OF_HOST(cases)                                                          \
    int main(int argc, char **argv)                                                        \
    {                                                                                      \
        return fault_main(argc, argv, (cases), sizeof(cases) / sizeof(*(cases)), NULL, 0); \
    }
int fault_main(int argc, char **argv, const struct fault_case *cases, size_t case_count,
               const struct fault_role *roles, size_t role_count);

/* ---- failures: one line on the real stderr, then exit ------------------------------------- */

void fault_fail(const char *file, int line, const char *fact, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
/* What fails in this process and those it starts from here on is expected: it goes to the log. */
void fault_fail_quietly(void);
/* Say why this case cannot run here.  Return: FAULT_SKIP. */
int fault_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line of the case's report on stdout. */
void fault_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define CHECK(fact, ...)                                        \
    do {                                                        \
        if (!(fact)) {                                          \
            fault_fail(__FILE__, __LINE__, #fact, __VA_ARGS__); \
        }                                                       \
    } while (0)

#define CHECK_STATUS(got, want)                                                 \
    do {                                                                        \
        const pmix_status_t got_ = (got);                                       \
        if (got_ != (want)) {                                                   \
            fault_fail(__FILE__, __LINE__, #got, "it is %d (%s), not %s", got_, \
                       PMIx_Error_string(got_), #want);                         \
        }                                                                       \
    } while (0)

/* Look at a fact again and again until it holds; the case's alarm bounds it. */
#define WAIT_FOR(fact, what)        \
    do {                            \
        fault_waiting_for = (what); \
        while (!(fact)) {           \
            fault_pause();          \
        }                           \
        fault_waiting_for = NULL;   \
    } while (0)
extern const char *volatile fault_waiting_for;
void fault_pause(void); /* a millisecond for the others */

/* An event handler that takes no action. */
void fault_event_ignored(size_t id, pmix_status_t status, const pmix_proc_t *source,
                         pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                         pmix_event_notification_cbfunc_fn_t done, void *cbdata);

uint64_t fault_now_ns(void);
/* A sequence that its seed decides. */
uint64_t fault_random(uint64_t *seed);

/* ---- the host ------------------------------------------------------------------------------ */

/* What the server calls; a case may fill in more before it starts the server, which takes tools when
 * there is a tool_connected. */
extern pmix_server_module_t fault_module;
/* The server lets tools of other users in as well (PMIX_SERVER_ALLOW_FOREIGN_TOOLS). */
extern bool fault_takes_foreign;
/* Start the server.  Exits with FAULT_SKIP when the engine that SHMIX_LOOP forces is refused. */
void fault_server_start(void);
/* As root: for clients of @uid. */
void fault_server_start_for(uid_t uid);
void fault_server_stop(void);

/* Register a job with @size local processes, and its clients as ours. */
void fault_job_start(const char *nspace, int size);
void fault_job_start_for(uid_t uid, const char *nspace, int size);
void fault_job_end(const char *nspace);
/* Register one rank again whose process is gone; a rank that is not gone stays as it is. */
void fault_rank_admit(const char *nspace, int rank);

/* Start @role as that rank (or, with nspace NULL, as nobody). */
pid_t fault_start(const char *nspace, int rank, const char *role, const char *arg);
/* The same with another uid and gid, program and library taken from memory, so that no path has to
 * be readable for it. */
pid_t fault_start_as(uid_t uid, const char *nspace, int rank, const char *role, const char *arg);
/* The path of this program, for others to start. */
const char *fault_program(void);
/* Wait for its end.  Return: as waitpid says. */
int fault_wait(pid_t pid);
/* Wait; fail unless it exits with 0. */
void fault_wait_ok(pid_t pid, const char *who);

/* Two ranks of a job of their own, "good.job", that fence until they are told to stop. */
void fault_good_start(void);
/* Wait until both have done @count more fences. */
void fault_good_wait(unsigned count);
void fault_good_stop(void);
/* A whole job: @size ranks fence @count times, put, get, and leave; fails unless all is well. */
void fault_job_whole(const char *nspace, int size, unsigned count);

/* The ordinary life of a rank: put, commit, @count fences, get of the next rank's value. */
void fault_rank_whole(unsigned count);

/* ---- what the kernel knows of a process ---------------------------------------------------- */

#define FAULT_SELF ((pid_t)0)
unsigned fault_fd_count(pid_t pid);
unsigned fault_map_count(pid_t pid);  /* maps of segments */
uint64_t fault_memory_kib(pid_t pid); /* anonymous and shared pages */
/* Return: true while @pid exists and sleeps in the kernel. */
bool fault_sleeps(pid_t pid);
/* Processes that map a segment whose name contains @name. */
unsigned fault_segment_holders(const char *name);
/* Under a sanitizer everything takes some ten times as long. */
bool fault_is_sanitized(void);
/* How much fault_memory_kib may differ: sanitizers keep freed memory. */
uint64_t fault_memory_slack_kib(void);

/* Raise RLIMIT_NOFILE to @wanted.  Return: false when the hard limit is lower. */
bool fault_files_raise(unsigned wanted);
void fault_files_limit(unsigned limit);

/* ---- the log -------------------------------------------------------------------------------- */

/* From now on stderr goes into memory; it is shown when the case fails. */
void fault_log_begin(void);
/* Lines of process @pid, or of launchers, that contain @text (NULL: all). */
#define FAULT_LAUNCHER ((pid_t)-2)
unsigned fault_log_lines(pid_t pid, const char *text);
/* The sum of the numbers that these lines begin with. */
unsigned long fault_log_sum(pid_t pid, const char *text);
/* A private directory, TMPDIR from now on, removed with what is in it when the case ends. */
const char *fault_tmpdir_make(void);
/* Names in @dir that contain @text. */
unsigned fault_dir_count(const char *dir, const char *text);

#endif
