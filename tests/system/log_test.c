/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log_test.c - PMIx_Log under a host of its own: what comes out of its process, what the system log
 * gets, and what the host is asked for.
 *
 * While a rank logs, the host's stdout and stderr are pipes, and the system log is a socket of the
 * test. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "job.h"

#define TEXT_MAX 65536

static char syslog_path[64];
static int syslog_fd = -1;

/* ---- what the host hears --------------------------------------------------------------------- */

static enum { ANSWERS, TWICE, LATE, NEVER, REFUSES } mode;
static atomic_uint asked;
static char received[1024];
static pmix_op_cbfunc_t unanswered_fn;
static void *unanswered_data;
static sem_t unanswered;

static void on_log(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                   const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                   void *cbdata)
{
    asked++;
    snprintf(received, sizeof(received), "%s.%u:", client->nspace, client->rank);
    for (size_t i = 0; i < ndata + ndirs; i++) {
        const pmix_info_t *const info = i < ndata ? &data[i] : &directives[i - ndata];
        const size_t used = strlen(received);

        snprintf(received + used, sizeof(received) - used, "%s%s", i == ndata ? " |" : " ",
                 info->key);
        if (i >= ndata && strcmp(info->key, PMIX_USERID) == 0) {
            CHECK(info->value.type == PMIX_UINT32 && info->value.data.uint32 == getuid());
        }
        if (i >= ndata && strcmp(info->key, PMIX_GRPID) == 0) {
            CHECK(info->value.type == PMIX_UINT32 && info->value.data.uint32 == getgid());
        }
    }
    unanswered_fn = cbfunc;
    unanswered_data = cbdata;
    if (mode == ANSWERS || mode == TWICE) {
        cbfunc(PMIX_SUCCESS, cbdata);
    }
    if (mode == TWICE) {
        cbfunc(PMIX_ERR_BAD_PARAM, cbdata);
    }
    if (mode == REFUSES) {
        cbfunc(PMIX_ERR_NO_PERMISSIONS, cbdata);
    }
    sem_post(&unanswered);
}

/* ---- what comes out of it -------------------------------------------------------------------- */

static int kept[2], ends[2]; /* of stdout and stderr: where they led, and where to read */

static void capture(void)
{
    for (int i = 0; i < 2; i++) {
        int pair[2];

        kept[i] = dup(1 + i);
        CHECK(kept[i] >= 0 && pipe(pair) == 0 && dup2(pair[1], 1 + i) == 1 + i);
        close(pair[1]);
        ends[i] = pair[0];
    }
}

/* All that has come out of stdout (0) or stderr (1), in @text. */
static void release(char texts[2][TEXT_MAX])
{
    for (int i = 0; i < 2; i++) {
        CHECK(dup2(kept[i], 1 + i) == 1 + i); /* the last writing end is closed */
        close(kept[i]);
        size_t used = 0;
        ssize_t got;

        while ((got = read(ends[i], texts[i] + used, TEXT_MAX - 1 - used)) > 0) {
            used += (size_t)got;
        }
        texts[i][used] = '\0';
        close(ends[i]);
    }
}

static char out[2][TEXT_MAX];

static void check_out(int i, const char *want)
{
    if (strcmp(out[i], want) != 0) {
        fprintf(stderr, "%s is '%s', not '%s'\n", i == 0 ? "stdout" : "stderr", out[i], want);
        exit(99);
    }
}

/* Let rank 0 log; what has come out is in `out` then. */
static void let_log(struct job *job)
{
    capture();
    job_token_put(0);
    const int status = job_wait(job, 0);
    release(out);
    CHECK(status == 0);
}

/* The next message of the system log. */
static void check_syslog(const char *priority, const char *end)
{
    char text[TEXT_MAX];
    const ssize_t got = recv(syslog_fd, text, sizeof(text) - 1, MSG_DONTWAIT);

    CHECK(got > 0);
    text[got] = '\0';
    const size_t len = strlen(text), end_len = strlen(end);

    if (strncmp(text, priority, strlen(priority)) != 0 || len < end_len ||
        strcmp(text + len - end_len, end) != 0) {
        fprintf(stderr, "the system log has '%s', not '%s...%s'\n", text, priority, end);
        exit(99);
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static pmix_proc_t me;

static void begin(void)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    job_token_get(0);
}

/* It borrows @text. */
static pmix_info_t text_of(const char *key, const char *text)
{
    pmix_info_t info = { .value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text } };

    strcpy(info.key, key);
    return info;
}

static pmix_info_t required(pmix_info_t info)
{
    PMIx_Info_required(&info);
    return info;
}

#define LOG(data, ...)                                                             \
    PMIx_Log(data, sizeof(data) / sizeof(*(data)), (pmix_info_t[]){ __VA_ARGS__ }, \
             sizeof((pmix_info_t[]){ __VA_ARGS__ }) / sizeof(pmix_info_t))
#define LOG_PLAIN(data) PMIx_Log(data, sizeof(data) / sizeof(*(data)), NULL, 0)

/* TQ89, TQ91, TQ93: to both streams, the same twice, in order, and a directive for another channel. */
static int rank_streams(int rank)
{
    pmix_info_t data[] = { text_of(PMIX_LOG_STDOUT, "one\n"), text_of(PMIX_LOG_STDERR, "two"),
                           text_of(PMIX_LOG_STDOUT, "one\n"), text_of(PMIX_LOG_STDOUT, "a\nb") };
    pmix_info_t priority;
    const int notice = 5;

    begin();
    CHECK_STATUS(PMIx_Info_load(&priority, PMIX_LOG_SYSLOG_PRI, &notice, PMIX_INT), PMIX_SUCCESS);
    CHECK_STATUS(LOG(data, priority), PMIX_SUCCESS);
    return rank_end();
}

static int host_streams(struct job *job)
{
    let_log(job);
    check_out(0, "one\none\na\nb\n");
    check_out(1, "two\n");
    return 0;
}

/* TQ94 */
static int rank_marks(int rank)
{
    pmix_info_t data[] = { text_of(PMIX_LOG_STDOUT, "a\nb<&>") };
    pmix_info_t when;
    const time_t midnight = 0;

    begin();
    CHECK_STATUS(PMIx_Info_load(&when, PMIX_LOG_TIMESTAMP, &midnight, PMIX_TIME), PMIX_SUCCESS);
    CHECK_STATUS(LOG(data, info_flag(PMIX_LOG_TAG_OUTPUT)), PMIX_SUCCESS);
    CHECK_STATUS(LOG(data, info_flag(PMIX_LOG_XML_OUTPUT), info_flag(PMIX_LOG_TIMESTAMP_OUTPUT),
                     when),
                 PMIX_SUCCESS);
    CHECK_STATUS(LOG(data, info_flag(PMIX_LOG_TIMESTAMP_OUTPUT), when), PMIX_SUCCESS);
    CHECK_STATUS(LOG(data, info_flag(PMIX_LOG_TIMESTAMP_OUTPUT), when,
                     info_flag(PMIX_LOG_GENERATE_TIMESTAMP)),
                 PMIX_SUCCESS);
    return rank_end();
}

static int host_marks(struct job *job)
{
    static const char want[] = "[" JOB_NSPACE ",0]<stdout>: a\n"
                               "[" JOB_NSPACE ",0]<stdout>: b<&>\n"
                               "<stdout nspace=\"" JOB_NSPACE
                               "\" rank=\"0\" time=\"1970-01-01T00:00:00+0000\">a</stdout>\n"
                               "<stdout nspace=\"" JOB_NSPACE
                               "\" rank=\"0\" time=\"1970-01-01T00:00:00+0000\">"
                               "b&lt;&amp;&gt;</stdout>\n"
                               "1970-01-01T00:00:00+0000 a\n"
                               "1970-01-01T00:00:00+0000 b<&>\n";

    let_log(job);
    CHECK(strncmp(out[0], want, strlen(want)) == 0);
    CHECK(strncmp(out[0] + strlen(want), "20", 2) == 0); /* the year in which this runs */
    return 0;
}

/* TQ90 */
static int rank_syslog(int rank)
{
    pmix_info_t plain[] = { text_of(PMIX_LOG_SYSLOG, "an error\n\nand more\n") };
    pmix_info_t local[] = { text_of(PMIX_LOG_LOCAL_SYSLOG, "a notice") };
    pmix_info_t priority;
    int number = 5;

    begin();
    CHECK_STATUS(LOG_PLAIN(plain), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&priority, PMIX_LOG_SYSLOG_PRI, &number, PMIX_INT), PMIX_SUCCESS);
    CHECK_STATUS(LOG(local, priority), PMIX_SUCCESS);
    number = 8;
    CHECK_STATUS(PMIx_Info_load(&priority, PMIX_LOG_SYSLOG_PRI, &number, PMIX_INT), PMIX_SUCCESS);
    CHECK_STATUS(LOG(local, priority), PMIX_ERR_BAD_PARAM);
    return rank_end();
}

static int host_syslog(struct job *job)
{
    let_log(job);
    check_syslog("<11>", "shmix[" JOB_NSPACE ".0]: an error");
    check_syslog("<11>", "shmix[" JOB_NSPACE ".0]: and more");
    check_syslog("<13>", "shmix[" JOB_NSPACE ".0]: a notice");
    check_out(0, "");
    check_out(1, "");
    return 0;
}

/* TQ92: the first that can, in the order of the array. */
static int rank_once(int rank)
{
    pmix_info_t data[] = { text_of(PMIX_LOG_GLOBAL_SYSLOG, "nobody"), text_of(PMIX_LOG_STDERR, "e"),
                           text_of(PMIX_LOG_STDOUT, "o") };

    begin();
    CHECK_STATUS(LOG(data, info_flag(PMIX_LOG_ONCE)), PMIX_SUCCESS);
    return rank_end();
}

static int host_once(struct job *job)
{
    let_log(job);
    check_out(0, "");
    check_out(1, "e\n");
    return 0;
}

/* TQ92: the host is one of those that may be able to. */
static int host_once_asks(struct job *job)
{
    asked = 0;
    let_log(job);
    CHECK(asked == 1);
    CHECK(sem_trywait(&unanswered) == 0); /* what it has heard is there to be looked at */
    check_out(1, mode == REFUSES ? "e\n" : "");
    check_out(0, "");
    return 0;
}

/* TQ97, TQ98: some, none, and one that is required. */
static int rank_nobody(int rank)
{
    pmix_info_t record[] = { info_flag(PMIX_LOG_JOB_RECORD), text_of("my.key", "my value") };
    pmix_info_t some[] = { text_of(PMIX_LOG_GLOBAL_SYSLOG, "x"), text_of(PMIX_LOG_STDOUT, "yes") };
    pmix_info_t all[] = { text_of(PMIX_LOG_STDOUT, "no"),
                          required(text_of(PMIX_LOG_GLOBAL_SYSLOG, "x")) };

    begin();
    CHECK_STATUS(LOG_PLAIN(record), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(LOG_PLAIN(some), PMIX_ERR_PARTIAL_SUCCESS);
    CHECK_STATUS(LOG_PLAIN(all), PMIX_ERR_NOT_SUPPORTED);
    return rank_end();
}

static int host_nobody(struct job *job)
{
    let_log(job);
    check_out(0, "yes\n");
    return 0;
}

/* TQ95 */
static sem_t called;
static pmix_status_t answer;

static void on_op(pmix_status_t status, void *cbdata)
{
    CHECK(cbdata == &called);
    answer = status;
    sem_post(&called);
}

static void on_op_never(pmix_status_t status, void *cbdata)
{
    exit(99);
}

static int rank_nb(int rank)
{
    pmix_info_t good = text_of(PMIX_LOG_STDOUT, "good"), bad = info_flag(PMIX_LOG_STDOUT);
    pmix_info_t endless = good;

    begin();
    memset(endless.key, 'k', sizeof(endless.key));
    CHECK_STATUS(PMIx_Log_nb(&bad, 1, NULL, 0, on_op_never, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Log_nb(NULL, 1, NULL, 0, on_op_never, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Log_nb(&good, 0, NULL, 0, on_op_never, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Log_nb(&endless, 1, NULL, 0, on_op_never, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Log_nb(&good, 1, NULL, 1, on_op_never, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Log_nb(&good, 1, NULL, 0, on_op, &called), PMIX_SUCCESS);
    job_sem_wait(&called);
    CHECK_STATUS(answer, PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Log_nb(&good, 1, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    return rank_end(); /* what was said before is taken before */
}

static int host_nb(struct job *job)
{
    let_log(job);
    check_out(0, "good\ngood\n");
    return 0;
}

/* TQ96: what the library does not log, with who asks; the rest goes its own way. */
static int rank_asks(int rank)
{
    pmix_info_t data[] = { text_of(PMIX_LOG_JOB_RECORD, "r"), text_of(PMIX_LOG_STDOUT, "o"),
                           text_of("my.key", "x") };

    begin();
    CHECK_STATUS(LOG(data, info_flag(PMIX_LOG_TAG_OUTPUT)),
                 mode == REFUSES ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS);
    return rank_end();
}

static int rank_asks_refused(int rank)
{
    mode = REFUSES;
    return rank_asks(rank);
}

static int host_asks(struct job *job)
{
    asked = 0;
    let_log(job);
    CHECK(asked == 1);
    CHECK(sem_trywait(&unanswered) == 0); /* what it has heard is there to be looked at */
    CHECK(strcmp(received, JOB_NSPACE ".0: " PMIX_LOG_JOB_RECORD " my.key |" PMIX_LOG_TAG_OUTPUT
                                      " " PMIX_USERID " " PMIX_GRPID) == 0);
    check_out(0, "[" JOB_NSPACE ",0]<stdout>: o\n");
    return 0;
}

/* A host that says nothing: who does not wait may leave, and what it says later is dropped. */
static int rank_leaves(int rank)
{
    pmix_info_t data = text_of(PMIX_LOG_JOB_RECORD, "r");

    begin();
    CHECK_STATUS(PMIx_Log_nb(&data, 1, NULL, 0, on_op, &called), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(sem_trywait(&called) == 0); /* it was called all the same */
    CHECK(answer != PMIX_SUCCESS);
    return 0;
}

static int host_leaves(struct job *job)
{
    while (sem_trywait(&unanswered) == 0) {
    }
    let_log(job);
    CHECK(sem_trywait(&unanswered) == 0);
    if (mode == LATE) {
        unanswered_fn(PMIX_SUCCESS, unanswered_data);
    }
    return 0;
}

/* Nobody reads: who logs is refused at some point, the others go on, and what was taken comes, in
 * its order, once somebody reads. */
#define FLOOD 400

static atomic_uint logged, refused;
static sem_t any_refused, flooded;

static void on_flood(pmix_status_t status, void *cbdata)
{
    CHECK(status == PMIX_SUCCESS || status == PMIX_ERR_OUT_OF_RESOURCE);
    if (status == PMIX_SUCCESS) {
        atomic_fetch_add(&logged, 1);
    } else if (atomic_fetch_add(&refused, 1) == 0) {
        sem_post(&any_refused);
    }
    sem_post(&flooded);
}

static void flood(void)
{
    char text[7000];

    job_token_get(0);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (int i = 0; i < FLOOD; i++) {
        char number[8];

        snprintf(number, sizeof(number), "%06d", i);
        memcpy(text, number, 6);
        pmix_info_t data = text_of(PMIX_LOG_STDOUT, text);

        CHECK_STATUS(PMIx_Log_nb(&data, 1, NULL, 0, on_flood, NULL), PMIX_SUCCESS);
    }
    CHECK(sem_wait(&any_refused) == 0);
}

static int rank_flood(int rank)
{
    char count[16];

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        flood();
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        job_token_put(1); /* now somebody reads */
        for (int i = 0; i < FLOOD; i++) {
            CHECK(sem_wait(&flooded) == 0);
        }
        CHECK(logged >= 100 && logged + refused == FLOOD);
        snprintf(count, sizeof(count), "%u", logged);
        pmix_info_t last[] = { text_of(PMIX_LOG_STDERR, count), text_of(PMIX_LOG_STDOUT, "end") };
        CHECK_STATUS(LOG_PLAIN(last), PMIX_SUCCESS);
    }
    return rank_end();
}

static int host_flood(struct job *job)
{
    static char line[8000];
    unsigned count = 0;
    long last = -1;
    char want[16];

    capture();
    FILE *const in = fdopen(dup(ends[0]), "r");

    job_token_put(0);
    job_token_get(1);
    while (fgets(line, sizeof(line), in) != NULL && strcmp(line, "end\n") != 0) {
        const long number = strtol(line, NULL, 10);

        CHECK(number > last && strlen(line) == 7000);
        last = number;
        count++;
    }
    fclose(in);
    CHECK(job_wait(job, 0) == 0);
    release(out);
    snprintf(want, sizeof(want), "\n%u\n", count); /* behind the server's own line about it */
    CHECK(strlen(out[1]) > strlen(want) &&
          strcmp(out[1] + strlen(out[1]) - strlen(want), want) == 0);
    return 0;
}

/* 100 MB are refused, and the line says so; the largest there is comes through the window. */
static int rank_large(int rank)
{
    const size_t huge = 100u << 20, large = 1000000;
    char *const text = malloc(huge + 1);

    CHECK(text != NULL);
    memset(text, 'x', huge);
    text[huge] = '\0';
    begin();
    const pmix_info_t data = text_of(PMIX_LOG_STDOUT, text);

    CHECK_STATUS(PMIx_Log(&data, 1, NULL, 0), PMIX_ERR_OUT_OF_RESOURCE);
    text[large] = '\0';
    for (size_t i = 999; i < large; i += 1000) {
        text[i] = '\n';
    }
    CHECK_STATUS(PMIx_Log(&data, 1, NULL, 0), PMIX_SUCCESS);
    free(text);
    return rank_end();
}

static int host_large(struct job *job)
{
    char line[1024];
    unsigned count = 0;

    capture();
    FILE *const in = fdopen(dup(ends[0]), "r");

    job_token_put(0);
    while (count < 1000 && fgets(line, sizeof(line), in) != NULL) {
        CHECK(strlen(line) == 1000);
        count++;
    }
    fclose(in);
    CHECK(count == 1000);
    CHECK(job_wait(job, 0) == 0);
    release(out);
    return 0;
}

/* What is logged and not read keeps nobody from other large requests. */
static int rank_window(int rank)
{
    static char text[500000];
    pmix_value_t value = { .type = PMIX_STRING, .data.string = text };

    memset(text, 'x', sizeof(text) - 1);
    begin();
    const pmix_info_t data = text_of(PMIX_LOG_STDOUT, text);

    CHECK_STATUS(PMIx_Log_nb(&data, 1, NULL, 0, on_op, &called), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "large", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK(sem_trywait(&called) != 0); /* nobody reads yet */
    job_token_put(1);
    CHECK(sem_wait(&called) == 0);
    CHECK_STATUS(answer, PMIX_SUCCESS);
    return rank_end();
}

static int host_window(struct job *job)
{
    size_t count = 0;

    capture();
    FILE *const in = fdopen(dup(ends[0]), "r");

    job_token_put(0);
    job_token_get(1);
    for (int c = getc(in); c == 'x'; c = getc(in)) {
        count++;
    }
    fclose(in);
    CHECK(count == 500000 - 1);
    CHECK(job_wait(job, 0) == 0);
    release(out);
    return 0;
}

/* TQ89: the host logs by itself, and is not asked for what it wants logged. */
static int rank_idle(int rank)
{
    begin();
    return rank_end();
}

static int host_itself(struct job *job)
{
    pmix_info_t data[] = { text_of(PMIX_LOG_STDOUT, "o"), text_of(PMIX_LOG_SYSLOG, "s") };
    pmix_info_t record[] = { text_of(PMIX_LOG_JOB_RECORD, "r") };
    pmix_info_t source;
    pmix_proc_t other;

    PMIx_Load_procid(&other, "other", 7);
    CHECK_STATUS(PMIx_Info_load(&source, PMIX_LOG_SOURCE, &other, PMIX_PROC), PMIX_SUCCESS);
    asked = 0;
    capture();
    const pmix_status_t first = LOG(data, info_flag(PMIX_LOG_TAG_OUTPUT), source);
    const pmix_status_t second = LOG_PLAIN(record);
    PMIx_Info_destruct(&source);
    const pmix_status_t third = PMIx_Log_nb(data, 1, NULL, 0, on_op, &called);
    job_sem_wait(&called);
    release(out);
    CHECK_STATUS(first, PMIX_SUCCESS);
    CHECK_STATUS(second, PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(third, PMIX_SUCCESS);
    CHECK_STATUS(answer, PMIX_SUCCESS);
    check_out(0, "[other,7]<stdout>: o\no\n");
    check_syslog("<11>", "shmix[other.7]: s");
    CHECK(asked == 0);
    job_token_put(0);
    return job_wait(job, 0);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void syslog_open(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    snprintf(syslog_path, sizeof(syslog_path), "/tmp/shmix-log-test.%d", (int)getpid());
    strcpy(address.sun_path, syslog_path);
    syslog_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(syslog_fd >= 0 && bind(syslog_fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    setenv("SHMIX_SYSLOG", syslog_path, 1);
}

static void syslog_remove(void)
{
    unlink(syslog_path);
}

int main(int argc, char **argv)
{
    static const struct {
        struct job_case it;
        bool has_entry;
        int mode;
    } cases[] = {
        { { "streams", 1, rank_streams, host_streams }, false, 0 },
        { { "marks", 1, rank_marks, host_marks }, false, 0 },
        { { "syslog", 1, rank_syslog, host_syslog }, false, 0 },
        { { "once", 1, rank_once, host_once }, false, 0 },
        { { "nobody", 1, rank_nobody, host_nobody }, false, 0 },
        { { "nb", 1, rank_nb, host_nb }, false, 0 },
        { { "flood", 2, rank_flood, host_flood }, false, 0 },
        { { "large", 1, rank_large, host_large }, false, 0 },
        { { "window", 1, rank_window, host_window }, false, 0 },
        { { "once_asks", 1, rank_once, host_once_asks }, true, ANSWERS },
        { { "once_refused", 1, rank_once, host_once_asks }, true, REFUSES },
        { { "asks", 1, rank_asks, host_asks }, true, ANSWERS },
        { { "asks_twice", 1, rank_asks, host_asks }, true, TWICE },
        { { "asks_refused", 1, rank_asks_refused, host_asks }, true, REFUSES },
        { { "late", 1, rank_leaves, host_leaves }, true, LATE },
        { { "never", 1, rank_leaves, host_leaves }, true, NEVER },
        { { "itself", 1, rank_idle, host_itself }, true, ANSWERS },
    };
    int failed = 0;

    sem_init(&unanswered, 0, 0);
    sem_init(&called, 0, 0);
    sem_init(&any_refused, 0, 0);
    sem_init(&flooded, 0, 0);
    if (argc == 1) {
        setenv("TZ", "UTC", 1);
        syslog_open();
        atexit(syslog_remove);
    }
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc > 1 && strcmp(cases[i].it.name, argv[2]) != 0) {
            continue;
        }
        mode = argc > 1 ? ANSWERS : cases[i].mode;
        job_module.log = cases[i].has_entry ? on_log : NULL;
        failed |= job_main(argc, argv, &cases[i].it, 1);
    }
    return failed;
}
