/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gateway_test.c - what comes to a gateway's port, and is not a rank that behaves: other users,
 * other ranks, broken and endless frames, a rank that does not read, a crowd.  Two ranks of ours
 * fence meanwhile, and a rank that behaves is served after it. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "control/gateway.h"
#include "fault.h"

#define NOBODY 65534
#define JOB "their.job"
#define CROWD 1000
#define GATEWAYS_MAX 64  /* that a server starts */
#define REQUESTS 2000000 /* more than a rank can send without reading an answer */
#define MEMORY_KIB_MAX (96u << 10)
#define EVENTS 60000u
#define EVENT_BYTES 3000 /* of each; together more than may wait */

static struct sx_gateway_port port;
static struct sockaddr_in address; /* of the port */
static pid_t gateway;
static int life_fd;

/* ---- the other side ------------------------------------------------------------------------ */

static int dial(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 &&
              connect(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) == 0,
          "%s", strerror(errno));
    return fd;
}

/* A connection that was closed with unread bytes is reset.  Return: false then too. */
static bool transmit(int fd, const void *bytes, size_t size)
{
    return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool receive(int fd, void *bytes, size_t size)
{
    fault_waiting_for = "bytes from the gateway";
    const bool good = recv(fd, bytes, size, MSG_WAITALL) == (ssize_t)size;

    fault_waiting_for = NULL;
    return good;
}

static void receives_the_end(int fd, const char *what)
{
    char byte;

    CHECK(!receive(fd, &byte, 1), "%s: it goes on", what);
    close(fd);
}

static size_t put(uint8_t *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return size;
}

/* Header and body of release 4.2's handshake.  Return: its bytes. */
static size_t hello_make(uint8_t *at, const char *nspace, uint32_t rank)
{
    const uint32_t credential_size = htonl(8), be_rank = htonl(rank);
    static const uint8_t credential[8];
    size_t size = 16;

    size += put(at + size, "native", 7);
    size += put(at + size, &credential_size, 4);
    size += put(at + size, credential, 8);
    size += put(at + size, "", 1);
    size += put(at + size, nspace, strlen(nspace) + 1);
    size += put(at + size, &be_rank, 4);
    size += put(at + size, "4.2.2\0v41\0\1hash", 16);
    const uint32_t header[4] = { UINT32_MAX, UINT32_MAX, (uint32_t)(size - 16), 0 };

    memcpy(at, header, sizeof(header));
    return size;
}

/* Return: whether it is welcomed; else it has been closed. */
static bool greet(const char *nspace, uint32_t rank, int *ret_fd)
{
    uint8_t hello[1024];
    uint32_t answer[2];
    const int fd = dial();

    CHECK(transmit(fd, hello, hello_make(hello, nspace, rank)), "%s", strerror(errno));
    if (!receive(fd, answer, sizeof(answer))) {
        close(fd);
        return false;
    }
    CHECK(answer[0] == 0, "status %d", (int)ntohl(answer[0]));
    *ret_fd = fd;
    return true;
}

static int greet_well(uint32_t rank)
{
    int fd = -1;

    CHECK(greet(JOB, rank, &fd), "rank %u is refused", rank);
    return fd;
}

static bool request(int fd, uint32_t tag, const void *body, uint32_t size)
{
    uint8_t frame[64];
    const uint32_t header[4] = { 0, htonl(tag), htonl(size), 0 };

    memcpy(frame, header, sizeof(header));
    memcpy(frame + sizeof(header), body, size);
    return transmit(fd, frame, sizeof(header) + size);
}

/* Return: the bytes of the answer's body, which are dropped. */
static uint32_t answer_drop(int fd, uint32_t tag)
{
    static char body[1 << 20];
    uint32_t header[4];

    CHECK(receive(fd, header, sizeof(header)), "no answer to %u", tag);
    const uint32_t size = ntohl(header[2]);

    CHECK(ntohl(header[1]) == tag && size > 0 && size <= sizeof(body), "tag %u, %u bytes",
          ntohl(header[1]), size);
    CHECK(receive(fd, body, size), "half an answer to %u", tag);
    return size;
}

#define COMMAND_REQ "\2\0"
#define COMMAND_REGISTER "\2\15\2\0\2\0" /* a handler for all codes */
#define COMMAND_FINALIZE "\2\5"

/* A rank that behaves. */
static void whole(uint32_t rank)
{
    const int fd = greet_well(rank);

    CHECK(request(fd, 101, COMMAND_REQ, 2), "%s", strerror(errno));
    CHECK(answer_drop(fd, 101) > 64, "no data of the job");
    CHECK(request(fd, 102, COMMAND_FINALIZE, 2), "%s", strerror(errno));
    CHECK(answer_drop(fd, 102) == 2, "no status");
    close(fd);
}

/* ---- the host ------------------------------------------------------------------------------ */

static void gateway_start(void)
{
    const pmix_proc_t proc = { .nspace = JOB, .rank = 0 };
    char **env = NULL, *const program = sx_gateway_program(getenv("SHMIX_COMMAND"));
    socklen_t size = sizeof(address);
    int pair[2];

    CHECK(program != NULL, "no gateway beside %s", getenv("SHMIX_COMMAND"));
    CHECK(sx_gateway_port_open(&port) == 0 &&
              getsockname(port.fd, (struct sockaddr *)(void *)&address, &size) == 0 &&
              socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0,
          "%s", strerror(errno));
    CHECK_STATUS(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    gateway = sx_gateway_start(&(struct sx_gateway_start){
        .program = program, .env = env, .listen_fd = port.fd, .life_fd = pair[1], .log_fd = -1 });
    CHECK(gateway > 0, "%s", strerror(errno));
    close(pair[1]);
    life_fd = pair[0];
    for (char **at = env; *at != NULL; at++) {
        free(*at);
    }
    free(env);
    free(program);
}

static void begin(void)
{
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_server_start();
    fault_good_start();
    fault_job_start(JOB, 3);
    gateway_start();
    whole(0);
}

static void end(void)
{
    whole(2);
    fault_good_wait(2);
    close(life_fd);
    fault_wait(gateway);
    sx_gateway_port_close(&port);
    fault_job_end(JOB);
    fault_good_stop();
    fault_server_stop();
}

/* ---- cases --------------------------------------------------------------------------------- */

static void become_nobody(void)
{
    if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
        setresuid(NOBODY, NOBODY, NOBODY) != 0) {
        _exit(1);
    }
}

static void child_of_nobody(void)
{
    uint8_t hello[1024];
    char byte;

    become_nobody();
    const int fd = dial();

    (void)transmit(fd, hello, hello_make(hello, JOB, 1));
    _exit(receive(fd, &byte, 1) ? 2 : 0);
}

static int case_another_uid(void)
{
    if (geteuid() != 0) {
        return fault_skip("only root can become another user");
    }
    begin();
    const pid_t pid = fork();

    if (pid == 0) {
        child_of_nobody();
    }
    CHECK(fault_wait(pid) == 0, "another user is answered");
    CHECK(fault_log_lines(gateway, "another user than the ranks (uid 65534") == 1, "no line");
    end();
    return 0;
}

/* The port of a server that wants a gateway, from the variable that ranks get. */
static void address_read(void)
{
    const pmix_proc_t proc = { .nspace = JOB, .rank = 0 };
    const char *colon = NULL;
    char **env = NULL;

    CHECK_STATUS(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    for (char **at = env; *at != NULL; at++) {
        if (strncmp(*at, "PMIX_SERVER_URI41=", 18) == 0) {
            colon = strrchr(*at, ':');
        }
    }
    CHECK(colon != NULL, "no port is named");
    address = (struct sockaddr_in){ .sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                    .sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10)) };
    for (char **at = env; *at != NULL; at++) {
        free(*at);
    }
    free(env);
}

/* A server of root, for ranks of another user, starts the gateway as that user.  Root is another
 * user than the ranks then. */
static int case_server_of_root(void)
{
    uint8_t hello[1024];
    pid_t pid;

    if (geteuid() != 0) {
        return fault_skip("only root can become another user");
    }
    (void)fault_tmpdir_make();
    fault_log_begin();
    setenv("SHMIX_GATEWAY", "1", 1);
    fault_server_start_for(NOBODY);
    fault_job_start_for(NOBODY, JOB, 3);
    address_read();
    for (int i = 0; i < 2; i++) {
        pid = fork();
        if (pid == 0) {
            become_nobody();
            whole((uint32_t)i);
            _exit(0);
        }
        CHECK(fault_wait(pid) == 0, "a rank of the user");
        const int fd = dial();

        (void)transmit(fd, hello, hello_make(hello, JOB, 2));
        receives_the_end(fd, "root");
    }
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "the host has children");
    fault_job_end(JOB);
    fault_server_stop();
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    WAIT_FOR(connect(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) != 0,
             "the gateway ends with the server");
    close(fd);
    return 0;
}

/* Whether process @pid is the gateway that accepts: the others are in its group of processes. */
static bool is_acceptor(pid_t pid)
{
    char path[64], text[512] = "";
    int group = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *const file = fopen(path, "r");

    if (file != NULL) {
        (void)!fgets(text, sizeof(text), file);
        fclose(file);
    }
    return strstr(text, "(shmix-gateway) ") != NULL &&
           sscanf(strchr(text, ')'), ") %*c %*d %d", &group) == 1 && group == pid;
}

/* That of the server in this process.  Return: 0 when there is none. */
static pid_t acceptor_find(void)
{
    static char environment[64 << 10];
    char path[64];
    DIR *const processes = opendir("/proc");
    const struct dirent *entry;
    pid_t found = 0;

    CHECK(processes != NULL, "%s", strerror(errno));
    while ((entry = readdir(processes)) != NULL && found == 0) {
        snprintf(path, sizeof(path), "/proc/%.20s/environ", entry->d_name);
        FILE *const file = fopen(path, "r");
        const size_t size = file == NULL ? 0 : fread(environment, 1, sizeof(environment), file);

        if (file != NULL) {
            fclose(file);
        }
        if (memmem(environment, size, fault_shared->tmpdir, strlen(fault_shared->tmpdir)) != NULL) {
            found = (pid_t)atoi(entry->d_name);
            found = is_acceptor(found) ? found : 0;
        }
    }
    closedir(processes);
    return found;
}

/* The gateway that accepts is killed: whom it serves stays served, and the next rank gets another
 * one, until too many have been killed. */
static int case_acceptor_dies(void)
{
    (void)fault_tmpdir_make();
    fault_log_begin();
    setenv("SHMIX_GATEWAY", "1", 1);
    fault_server_start();
    fault_job_start(JOB, 3);
    address_read();
    const int served = greet_well(1);

    for (unsigned i = 1; i <= GATEWAYS_MAX; i++) {
        const pid_t acceptor = acceptor_find();

        CHECK(acceptor > 0, "no gateway accepts");
        CHECK(kill(acceptor, SIGKILL) == 0, "%s", strerror(errno));
        if (i < GATEWAYS_MAX) {
            WAIT_FOR(fault_log_lines(getpid(), "gets a new one") == i, "a line");
            whole(0);
        }
    }
    WAIT_FOR(fault_log_lines(getpid(), "as 63 before it") == 1, "the last line");
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(connect(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) != 0,
          "the port is open");
    close(fd);
    CHECK(request(served, 103, COMMAND_FINALIZE, 2), "%s", strerror(errno));
    CHECK(answer_drop(served, 103) == 2, "whom it has served suffers");
    close(served);
    fault_job_end(JOB);
    fault_server_stop();
    return 0;
}

static int case_strangers(void)
{
    static const uint32_t headers[][4] = {
        { 0, 0, 0, 0 },
        { UINT32_MAX, UINT32_MAX, 0, 0 },
        { UINT32_MAX, UINT32_MAX, UINT32_MAX, 0 },
        { UINT32_MAX, UINT32_MAX, 131073, 0 },
        { UINT32_MAX, UINT32_MAX, 0x01000000, 0 },
        { UINT32_MAX, 7, 90, 0 },
    };
    uint8_t hello[1024];
    size_t size;

    begin();
    for (size_t i = 0; i < SX_COUNT(headers); i++) {
        const int fd = dial();

        (void)transmit(fd, headers[i], sizeof(headers[i]));
        receives_the_end(fd, "a header");
    }
    size = hello_make(hello, JOB, 1);
    for (size_t cut = 0; cut < size; cut += 5) { /* the end comes in the middle */
        const int fd = dial();

        (void)transmit(fd, hello, cut);
        shutdown(fd, SHUT_WR);
        receives_the_end(fd, "a cut handshake");
    }
    for (size_t at = 16; at < size; at++) { /* each byte is wrong once */
        const int fd = dial();
        const uint8_t was = hello[at];
        char byte;

        hello[at] = 0xff;
        (void)transmit(fd, hello, size);
        shutdown(fd, SHUT_WR);
        while (receive(fd, &byte, 1)) {
        }
        close(fd);
        hello[at] = was;
    }
    const int silent = dial(); /* its time ends */

    receives_the_end(silent, "no handshake");
    end();
    return 0;
}

static int case_ranks(void)
{
    int fd = -1;

    begin();
    CHECK(!greet("other.job", 0, &fd), "another job");
    CHECK(!greet(JOB, 3, &fd), "no such rank");
    CHECK(!greet("good.job", 1, &fd), "a rank that is connected");
    const int own = greet_well(1);

    CHECK(!greet(JOB, 1, &fd), "a rank that has this connection");
    CHECK(request(own, 103, COMMAND_FINALIZE, 2), "%s", strerror(errno));
    CHECK(answer_drop(own, 103) == 2, "the first one suffers");
    whole(1); /* after its good-bye it may come again, while the first connection is open */
    close(own);
    end();
    return 0;
}

/* Rank 1 does @what to its connection, and is a lost rank then. */
static void is_lost(const char *what, int fd)
{
    static unsigned lost;

    if (fd >= 0) {
        receives_the_end(fd, what);
    }
    lost++;
    WAIT_FOR(atomic_load(&fault_shared->lost) >= lost, what);
    fault_good_wait(1);
    fault_rank_admit(JOB, 1);
}

static int case_frames(void)
{
    static const uint32_t headers[][4] = {
        { 0, 0x65000000, 0xffffffff, 0 }, /* without an end */
        { 0, 0x65000000, 0x01000010, 0 }, /* one byte more than the largest */
        { 0, 0, 0x02000000, 0 },          /* an event, to the server */
    };
    static const uint8_t bodies[][12] = {
        { 3, 2, 4 },                         /* three commands */
        { 2, 3, 2, 0xff, 0xff, 0xff, 0x7f }, /* a fence of very many */
        { 2, 4, 2, 0xff, 0xff, 0xff, 0x0f }, /* a get with a name of 134 MB */
        { 2, 13, 2, 0xff, 0xff, 0xff, 0x0f },
    };
    int fd;

    begin();
    for (size_t i = 0; i < SX_COUNT(headers); i++) {
        fd = greet_well(1);
        (void)transmit(fd, headers[i], sizeof(headers[i]));
        (void)transmit(fd, COMMAND_REQ, 2);
        is_lost("a header", fd);
    }
    for (size_t i = 0; i < SX_COUNT(bodies); i++) {
        fd = greet_well(1);
        (void)request(fd, 101, bodies[i], sizeof(bodies[i]));
        is_lost("a body", fd);
    }
    fd = greet_well(1);
    CHECK(request(fd, 104, "\2\xc8", 2), "%s", strerror(errno));
    CHECK(answer_drop(fd, 104) >= 2, "a command of the future is answered");
    (void)transmit(fd, headers[0], 7); /* half a header, and the end */
    close(fd);
    is_lost("half a header", -1);
    end();
    return 0;
}

static pid_t server_of_rank(void)
{
    char path[64], list[256] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)gateway, (int)gateway);
    file = fopen(path, "re");
    CHECK(file != NULL && fgets(list, sizeof(list), file) != NULL, "%s", path);
    fclose(file);
    return (pid_t)strtol(list, NULL, 10);
}

/* It asks for its job's data again and again.  What waits for it is
 * bounded. */
static int case_reads_nothing(void)
{
    uint32_t sent = 0;

    begin();
    WAIT_FOR(fault_log_lines(gateway, NULL) == 0, "the rank before is gone");
    const int fd = greet_well(1);
    const struct timeval patience = { .tv_usec = 300000 };

    CHECK(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0, "%s",
          strerror(errno));
    while (sent < REQUESTS && request(fd, 200 + sent, COMMAND_REQ, 2)) {
        sent++;
    }
    CHECK(sent < REQUESTS, "nothing holds it back");
    fault_good_wait(5);
    const uint64_t kib = fault_memory_kib(server_of_rank());

    fault_say("%u requests without an answer read: %llu KiB", sent, (unsigned long long)kib);
    CHECK(fault_is_sanitized() || kib < MEMORY_KIB_MAX, "%llu KiB", (unsigned long long)kib);
    close(fd);
    is_lost("a rank that reads nothing", -1);
    end();
    return 0;
}

/* It has a handler for all events, and is sent some that it does not read.  What waits for it is
 * bounded; the others wait in the ring, where they are lost to it in the end. */
static int case_reads_no_events(void)
{
    static char text[EVENT_BYTES];
    uint64_t kib = 0;
    pmix_info_t info;

    begin();
    WAIT_FOR(fault_log_lines(gateway, NULL) == 0, "the rank before is gone");
    const int fd = greet_well(1);

    CHECK(request(fd, 200, COMMAND_REGISTER, 6), "%s", strerror(errno));
    CHECK(answer_drop(fd, 200) == 2, "no status");
    memset(text, 'e', sizeof(text) - 1);
    CHECK_STATUS(PMIx_Info_load(&info, "test.text", text, PMIX_STRING), PMIX_SUCCESS);
    for (unsigned i = 0; i < EVENTS; i++) {
        CHECK_STATUS(PMIx_Notify_event(PMIX_EXTERNAL_ERR_BASE - 7, NULL, PMIX_RANGE_LOCAL, &info, 1,
                                       NULL, NULL),
                     PMIX_SUCCESS);
        if (i % 100 == 0) { /* the gateway gets its turn, too */
            fault_good_wait(1);
        }
    }
    kib = fault_memory_kib(server_of_rank());
    fault_say("%u events of %d bytes that are not read: %llu KiB", EVENTS, EVENT_BYTES,
              (unsigned long long)kib);
    CHECK(fault_is_sanitized() || kib < MEMORY_KIB_MAX, "%llu KiB", (unsigned long long)kib);
    PMIx_Info_destruct(&info);
    close(fd);
    is_lost("a rank that reads no events", -1);
    end();
    return 0;
}

static int case_crowd(void)
{
    static int fds[CROWD];

    if (!fault_files_raise(CROWD + 100)) {
        return fault_skip("the limit of open files is too low");
    }
    begin();
    for (int i = 0; i < CROWD; i++) {
        fds[i] = dial();
    }
    whole(1); /* behind them all */
    fault_good_wait(2);
    for (int i = 0; i < CROWD; i++) {
        close(fds[i]);
    }
    end();
    return 0;
}

static const struct fault_case cases[] = {
    { "another_uid", case_another_uid },
    { "server_of_root", case_server_of_root },
    { "acceptor_dies", case_acceptor_dies },
    { "strangers", case_strangers },
    { "ranks", case_ranks },
    { "frames", case_frames },
    { "reads_nothing", case_reads_nothing },
    { "reads_no_events", case_reads_no_events },
    { "crowd", case_crowd },
};

FAULT_MAIN_OF_HOST(cases)
