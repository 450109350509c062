/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop_test.c - both engines keep the loop's contract. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "control/loop_engine.h"
#include "control/socket.h"
#include "engines.h"

/* ---- a listening socket without a file ---------------------------------------------------- */

static int make_listener(struct sockaddr_un *ret_address, socklen_t *ret_size)
{
    static int serial;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    cr_assert_geq(fd, 0);
    *ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    const int n = snprintf(ret_address->sun_path + 1, sizeof(ret_address->sun_path) - 1,
                           "shmix-test-%d-%d", (int)getpid(), serial++);

    *ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    cr_assert_eq(bind(fd, (struct sockaddr *)ret_address, *ret_size), 0);
    cr_assert_eq(listen(fd, 4096), 0);
    return fd;
}

static int connect_to(const struct sockaddr_un *address, socklen_t size)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    cr_assert_geq(fd, 0, "%s", strerror(errno));
    cr_assert_eq(connect(fd, (const struct sockaddr *)address, size), 0, "%s", strerror(errno));
    return fd;
}

/* ---- connections and messages ------------------------------------------------------------- */

struct conn {
    struct sx_recv recv;
    struct echo *echo;
};

struct echo {
    struct bench_loop bench;
    struct sx_accept accept;
    struct conn conns[1100];
    int conn_count, message_count, gone_count, rights_count, truncated_count;
    int stop_at_messages, stop_at_gone, stop_at_conns;
    size_t sizes[16];
    uint64_t sums[16];
};

static uint64_t sum_bytes(const uint8_t *bytes, size_t size)
{
    uint64_t sum = size;

    for (size_t i = 0; i < size; i++) {
        sum = sum * 31 + bytes[i];
    }
    return sum;
}

static void on_message(void *arg, const struct sx_recv_message *message, uint64_t now_ns)
{
    struct conn *conn = arg;
    struct echo *echo = conn->echo;

    (void)now_ns;
    echo->truncated_count += message->truncated;
    if (message->rights) {
        cr_expect_null(message->bytes);
        sx_recv_remove(&conn->recv);
        sx_socket_hang_up(conn->recv.fd);
        if (++echo->rights_count == echo->stop_at_gone) {
            sx_loop_stop(echo->bench.loop);
        }
        return;
    }
    if (message->bytes == NULL) {
        cr_expect_null(conn->recv.source.loop, "a source that has ended has removed itself");
        close(conn->recv.fd);
        if (++echo->gone_count == echo->stop_at_gone) {
            sx_loop_stop(echo->bench.loop);
        }
        return;
    }
    cr_expect_eq((uintptr_t)message->bytes % 8, 0);
    if (echo->message_count < (int)SX_COUNT(echo->sizes)) {
        echo->sizes[echo->message_count] = message->size;
        echo->sums[echo->message_count] = sum_bytes(message->bytes, message->size);
    }
    if (++echo->message_count == echo->stop_at_messages) {
        sx_loop_stop(echo->bench.loop);
    }
}

static void add_conn(struct echo *echo, int fd)
{
    struct conn *conn = &echo->conns[echo->conn_count++];

    cr_assert_leq(echo->conn_count, (int)SX_COUNT(echo->conns));
    *conn = (struct conn){ .echo = echo, .recv = { .fd = fd, .fn = on_message, .arg = conn } };
    cr_assert_eq(sx_recv_add(echo->bench.loop, &conn->recv), PMIX_SUCCESS);
}

static void on_accept(void *arg, int fd, uint64_t now_ns)
{
    struct echo *echo = arg;

    (void)now_ns;
    cr_expect_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    cr_expect_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    add_conn(echo, fd);
    if (echo->conn_count == echo->stop_at_conns) {
        sx_loop_stop(echo->bench.loop);
    }
}

static struct echo *echo_open(enum test_engine engine)
{
    struct echo *echo = calloc(1, sizeof(*echo));

    cr_assert_not_null(echo);
    test_loop_open(&echo->bench, engine);
    return echo;
}

static void echo_close(struct echo *echo)
{
    for (int i = 0; i < echo->conn_count; i++) {
        if (echo->conns[i].recv.source.loop != NULL) {
            sx_recv_remove(&echo->conns[i].recv);
            close(echo->conns[i].recv.fd);
        }
    }
    sx_accept_remove(&echo->accept);
    test_loop_close(&echo->bench);
    free(echo);
}

EACH_ENGINE(loop, keeps_message_boundaries_and_order)
{
    static const size_t sizes[] = { 1, 8192, 100, 4095, 8191 };
    static uint8_t bytes[8192];
    struct echo *echo = echo_open(engine);
    int pair[2];

    test_socket_pair(pair);
    add_conn(echo, pair[0]);
    for (size_t i = 0; i < SX_COUNT(sizes); i++) {
        memset(bytes, (int)i + 1, sizeof(bytes));
        cr_assert_eq(descriptors_send(pair[1], bytes, sizes[i], -1, 0), (ssize_t)sizes[i]);
    }
    echo->stop_at_messages = SX_COUNT(sizes);
    test_loop_run(&echo->bench, "five messages");
    for (size_t i = 0; i < SX_COUNT(sizes); i++) {
        memset(bytes, (int)i + 1, sizeof(bytes));
        cr_expect_eq(echo->sizes[i], sizes[i]);
        cr_expect_eq(echo->sums[i], sum_bytes(bytes, sizes[i]));
    }
    cr_expect_eq(echo->truncated_count, 0);
    close(pair[1]);
    echo->stop_at_gone = 1;
    test_loop_run(&echo->bench, "the end");
    echo_close(echo);
}

EACH_ENGINE(loop, marks_what_is_too_long)
{
    static uint8_t bytes[8193];
    struct echo *echo = echo_open(engine);
    int pair[2];

    test_socket_pair(pair);
    add_conn(echo, pair[0]);
    cr_assert_eq(descriptors_send(pair[1], bytes, sizeof(bytes), -1, 0), (ssize_t)sizeof(bytes));
    echo->stop_at_messages = 1;
    test_loop_run(&echo->bench, "a message");
    cr_expect_eq(echo->truncated_count, 1);
    cr_expect_eq(echo->sizes[0], 8192);
    close(pair[1]);
    echo_close(echo);
}

EACH_ENGINE(loop, descriptors_are_refused_to_their_sender)
{
    struct echo *echo = echo_open(engine);
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int pair[2];

    if (!sx_socket_can_refuse_rights()) {
        cr_skip_test("this kernel does not refuse descriptors (SO_PASSRIGHTS, Linux 6.16)");
    }
    test_socket_pair(pair);
    add_conn(echo, pair[0]);
    for (int count = 1; count <= 16; count++) {
        cr_expect_eq(descriptors_send(pair[1], "x", 1, null_fd, count), -1);
        cr_expect_eq(errno, EPERM);
    }
    cr_assert_eq(descriptors_send(pair[1], "x", 1, -1, 0), 1, "others go on");
    echo->stop_at_messages = 1;
    test_loop_run(&echo->bench, "a message");
    cr_expect_eq(echo->message_count, 1);
    close(pair[1]);
    close(null_fd);
    echo_close(echo);
}

/* Where the kernel cannot refuse them: no descriptor is made of any, wherever in the queue they are
 * and whatever they come with. */
EACH_ENGINE(loop, descriptors_that_nobody_refused_stay_in_their_socket)
{
    static const char *const bodies[] = { "x", "" };
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int pair[2];

    setenv("SHMIX_PASSRIGHTS", "0", 1);
    struct echo *echo = echo_open(engine);
    const int before = test_count_fds();

    for (int count = 1; count <= 16; count += 5) {
        for (size_t b = 0; b < SX_COUNT(bodies); b++) {
            const size_t size = strlen(bodies[b]);

            test_socket_pair(pair);
            add_conn(echo, pair[0]);
            cr_assert_eq(descriptors_send(pair[1], "1", 1, -1, 0), 1);
            cr_assert_eq(descriptors_send(pair[1], "2", 1, -1, 0), 1);
            cr_assert_eq(descriptors_send(pair[1], bodies[b], size, null_fd, count), (ssize_t)size);
            cr_assert_eq(descriptors_send(pair[1], "", 0, null_fd, count), 0);
            echo->message_count = 0;
            echo->stop_at_gone = echo->rights_count + 1;
            test_loop_run(&echo->bench, "a message with descriptors");
            cr_expect_eq(echo->message_count, 2, "those before it");
            close(pair[1]);
        }
    }
    cr_expect_eq(echo->gone_count, 0);
    while (test_count_fds() != before) { /* another thread throws them away */
        usleep(1000);
    }
    close(null_fd);
    echo_close(echo);
}

EACH_ENGINE(loop, delivers_the_last_messages_of_a_peer_that_did_not_read_ours)
{
    struct echo *echo = echo_open(engine);
    int pair[2];

    test_socket_pair(pair);
    add_conn(echo, pair[0]);
    cr_assert_eq(descriptors_send(pair[0], "unread", 6, -1, 0), 6);
    cr_assert_eq(descriptors_send(pair[1], "bye", 3, -1, 0), 3);
    close(pair[1]);
    echo->stop_at_gone = 1;
    test_loop_run(&echo->bench, "the end");
    cr_expect_eq(echo->message_count, 1);
    echo_close(echo);
}

static void raise_file_limit(rlim_t want)
{
    struct rlimit limit;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < want) {
        if (limit.rlim_max < want) {
            cr_skip_test("needs %lu open files (ulimit -Hn)", (unsigned long)want);
        }
        limit.rlim_cur = want;
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    }
}

EACH_ENGINE(loop, serves_a_thousand_connections)
{
    enum { COUNT = 1000 };
    static int clients[COUNT];
    struct sockaddr_un address;
    socklen_t size;

    raise_file_limit(2 * COUNT + 100);
    struct echo *echo = echo_open(engine);

    echo->accept = (struct sx_accept){ .fd = make_listener(&address, &size),
                                       .fn = on_accept,
                                       .arg = echo };
    cr_assert_eq(sx_accept_add(echo->bench.loop, &echo->accept), PMIX_SUCCESS);
    echo->stop_at_conns = COUNT;
    for (int i = 0; i < COUNT; i++) {
        clients[i] = connect_to(&address, size);
    }
    test_loop_run(&echo->bench, "1000 connections");
    echo->stop_at_messages = 2 * COUNT;
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(descriptors_send(clients[i], "one", 3, -1, 0), 3);
        cr_assert_eq(descriptors_send(clients[i], "two", 3, -1, 0), 3);
    }
    test_loop_run(&echo->bench, "2000 messages");
    echo->stop_at_gone = COUNT;
    for (int i = 0; i < COUNT; i++) {
        close(clients[i]);
    }
    test_loop_run(&echo->bench, "1000 ends");
    close(echo->accept.fd);
    echo_close(echo);
}

EACH_ENGINE(loop, accepts_again_after_descriptors_ran_out)
{
    enum { CLIENTS = 12 };
    int clients[CLIENTS];
    struct rlimit limit, tight;
    struct sockaddr_un address;
    socklen_t size;
    struct echo *echo = echo_open(engine);

    echo->accept = (struct sx_accept){ .fd = make_listener(&address, &size),
                                       .fn = on_accept,
                                       .arg = echo };
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(&address, size);
    }
    const int lowest = dup(0); /* descriptors below this one are taken */
    const int log_fd = test_capture_stderr();

    close(lowest);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    tight = (struct rlimit){ .rlim_cur = (rlim_t)log_fd + 5, .rlim_max = limit.rlim_max };
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
    cr_assert_eq(sx_accept_add(echo->bench.loop, &echo->accept), PMIX_SUCCESS);
    for (int rounds = 0; test_count_lines(log_fd, "cannot accept") == 0; rounds++) {
        cr_assert_lt(rounds, 1000, "the shortage was never met");
        test_loop_settle(&echo->bench);
    }
    cr_expect_lt(echo->conn_count, CLIENTS);
    cr_expect_eq(test_count_lines(log_fd, "ulimit -n"), 1);

    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    echo->stop_at_conns = CLIENTS;
    test_loop_run(&echo->bench, "the remaining connections");
    cr_expect_eq(test_count_lines(log_fd, "cannot accept"), 1, "logged once");
    for (int i = 0; i < CLIENTS; i++) {
        close(clients[i]);
    }
    close(echo->accept.fd);
    echo_close(echo);
}

static uint64_t clock_read(void *arg)
{
    return *(uint64_t *)arg;
}

/* So many turns, a second apart. */
static void seconds_pass(struct echo *echo, uint64_t *now_ns, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        struct sx_timer stop = { .fn = test_stop_turn, .arg = &echo->bench };

        *now_ns += SX_NS_PER_SEC;
        cr_assert_eq(sx_timer_add(echo->bench.loop, &stop, *now_ns), PMIX_SUCCESS);
        sx_loop_run(echo->bench.loop);
        test_loop_settle(&echo->bench);
    }
}

EACH_ENGINE(loop, lets_one_in_after_another_where_descriptors_stay_out)
{
    enum { CLIENTS = 8, LONG = 30 };
    int clients[CLIENTS];
    uint64_t now_ns = SX_NS_PER_SEC;
    struct rlimit limit, tight;
    struct sockaddr_un address;
    socklen_t size;
    struct echo *echo = echo_open(engine);

    sx_loop_set_clock(echo->bench.loop, clock_read, &now_ns);
    echo->accept = (struct sx_accept){ .fd = make_listener(&address, &size),
                                       .fn = on_accept,
                                       .arg = echo };
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(&address, size);
    }
    const int log_fd = test_capture_stderr();

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    tight = (struct rlimit){ .rlim_cur = (rlim_t)log_fd + 3, .rlim_max = limit.rlim_max };
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
    cr_assert_eq(sx_accept_add(echo->bench.loop, &echo->accept), PMIX_SUCCESS);
    for (int rounds = 0; test_count_lines(log_fd, "cannot accept") == 0; rounds++) {
        cr_assert_lt(rounds, 1000, "the shortage was never met");
        test_loop_settle(&echo->bench);
    }
    const int in = echo->conn_count;

    cr_assert_lt(in, CLIENTS - 2);
    seconds_pass(echo, &now_ns, 2);
    cr_expect_eq(echo->conn_count, in, "a short shortage is waited for");
    seconds_pass(echo, &now_ns, LONG);
    cr_expect_eq(echo->conn_count, in + 1, "there is one spare descriptor");
    for (int i = 1; i < CLIENTS - in; i++) {
        sx_recv_remove(&echo->conns[in + i - 1].recv);
        test_loop_settle(&echo->bench);
        close(echo->conns[in + i - 1].recv.fd);
        seconds_pass(echo, &now_ns, LONG);
        cr_expect_eq(echo->conn_count, in + i + 1, "the next, once the one before has gone");
    }
    cr_expect_eq(test_count_lines(log_fd, "cannot accept"), 1, "logged once");
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int i = 0; i < CLIENTS; i++) {
        close(clients[i]);
    }
    close(echo->accept.fd);
    echo_close(echo);
}

/* ---- posts -------------------------------------------------------------------------------- */

enum { POSTERS = 4, POSTS_EACH = 2000 };

struct numbered {
    struct sx_loop_post post;
    struct posting *posting;
    int poster, number;
};

struct posting {
    struct bench_loop bench;
    struct numbered posts[POSTERS][POSTS_EACH];
    int next[POSTERS];
    int total;
    int order_faults;
};

static void on_post(void *arg, uint64_t now_ns)
{
    struct numbered *numbered = arg;
    struct posting *posting = numbered->posting;

    (void)now_ns;
    posting->order_faults += numbered->number != posting->next[numbered->poster];
    posting->next[numbered->poster] = numbered->number + 1;
    if (++posting->total == POSTERS * POSTS_EACH) {
        sx_loop_stop(posting->bench.loop);
    }
}

struct poster {
    struct posting *posting;
    int poster;
};

static void *post_all(void *arg)
{
    const struct poster *poster = arg;

    for (int i = 0; i < POSTS_EACH; i++) {
        struct numbered *numbered = &poster->posting->posts[poster->poster][i];

        *numbered = (struct numbered){ .posting = poster->posting,
                                       .poster = poster->poster,
                                       .number = i,
                                       .post = { .fn = on_post, .arg = numbered } };
        if (sx_loop_post(poster->posting->bench.loop, &numbered->post) != PMIX_SUCCESS) {
            return arg;
        }
    }
    return NULL;
}

EACH_ENGINE(loop, runs_posts_of_four_threads_in_the_order_of_each)
{
    struct posting *posting = calloc(1, sizeof(*posting));
    struct poster posters[POSTERS];
    pthread_t threads[POSTERS];

    cr_assert_not_null(posting);
    test_loop_open(&posting->bench, engine);
    for (int i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){ .posting = posting, .poster = i };
        cr_assert_eq(pthread_create(&threads[i], NULL, post_all, &posters[i]), 0);
    }
    test_loop_run(&posting->bench, "all posts");
    for (int i = 0; i < POSTERS; i++) {
        void *failed;

        cr_assert_eq(pthread_join(threads[i], &failed), 0);
        cr_expect_null(failed);
    }
    cr_expect_eq(posting->order_faults, 0);
    cr_expect_eq(sx_loop_stats(posting->bench.loop).posts, POSTERS * POSTS_EACH);
    cr_expect_leq(sx_loop_stats(posting->bench.loop).wakeups, POSTERS * POSTS_EACH);

    struct sx_loop_post late = { .fn = test_stop_turn, .arg = &posting->bench };

    cr_expect_eq(sx_loop_post(posting->bench.loop, &late), PMIX_ERR_NOT_AVAILABLE);
    test_loop_close(&posting->bench);
    free(posting);
}

struct repost {
    struct bench_loop bench;
    struct sx_loop_post post;
    int runs;
};

static void post_again(void *arg, uint64_t now_ns)
{
    struct repost *repost = arg;

    (void)now_ns;
    cr_expect(sx_loop_is_own_thread(repost->bench.loop));
    if (++repost->runs == 100) {
        sx_loop_stop(repost->bench.loop);
    } else {
        cr_expect_eq(sx_loop_post(repost->bench.loop, &repost->post), PMIX_SUCCESS);
    }
}

EACH_ENGINE(loop, posts_of_its_own_thread_need_no_wakeup)
{
    struct repost repost = { .runs = 0 };

    test_loop_open(&repost.bench, engine);
    repost.post = (struct sx_loop_post){ .fn = post_again, .arg = &repost };
    cr_assert_eq(sx_loop_post(repost.bench.loop, &repost.post), PMIX_SUCCESS);
    cr_expect(!sx_loop_is_own_thread(repost.bench.loop));
    test_loop_run(&repost.bench, "100 posts");
    cr_expect_leq(sx_loop_stats(repost.bench.loop).wakeups, 1, "only the first came from outside");
    test_loop_close(&repost.bench);
}

/* ---- timers ------------------------------------------------------------------------------- */

struct timing {
    struct bench_loop bench;
    uint64_t now_ns;
    struct sx_timer timers[64];
    int order[64];
    int count;
    struct sx_timer *remove_on_fire;
};

struct timing_slot {
    struct timing *timing;
    int index;
};

static uint64_t set_clock(void *arg)
{
    return ((struct timing *)arg)->now_ns;
}

static void on_timer(void *arg, uint64_t now_ns)
{
    struct timing_slot *slot = arg;
    struct timing *timing = slot->timing;

    cr_expect_leq(timing->timers[slot->index].deadline_ns, now_ns);
    cr_expect_null(timing->timers[slot->index].source.loop);
    timing->order[timing->count++] = slot->index;
    if (timing->remove_on_fire != NULL) {
        sx_timer_remove(timing->remove_on_fire);
    }
}

static void one_turn_at(struct timing *timing, uint64_t now_ns)
{
    struct sx_timer stop = { .fn = test_stop_turn, .arg = &timing->bench };

    timing->now_ns = now_ns;
    cr_assert_eq(sx_timer_add(timing->bench.loop, &stop, now_ns), PMIX_SUCCESS);
    sx_loop_run(timing->bench.loop);
}

EACH_ENGINE(loop, runs_timers_by_deadline_then_by_order_of_adding)
{
    struct timing timing = { .now_ns = 1000 };
    struct timing_slot slots[64];

    test_loop_open(&timing.bench, engine);
    sx_loop_set_clock(timing.bench.loop, set_clock, &timing);
    for (int i = 0; i < 64; i++) {
        slots[i] = (struct timing_slot){ .timing = &timing, .index = i };
        timing.timers[i] = (struct sx_timer){ .fn = on_timer, .arg = &slots[i] };
        /* deadlines 2000 .. 2015, each four times, in a scattered order */
        cr_assert_eq(sx_timer_add(timing.bench.loop, &timing.timers[i],
                                  2000 + (uint64_t)(i * 7 % 16)),
                     PMIX_SUCCESS);
    }
    one_turn_at(&timing, 1999);
    cr_expect_eq(timing.count, 0, "nothing is due");
    one_turn_at(&timing, 2007);
    cr_expect_eq(timing.count, 32);
    sx_timer_remove(&timing.timers[63]); /* due at 2009 */
    cr_assert_eq(sx_timer_add(timing.bench.loop, &timing.timers[61], 2020),
                 PMIX_SUCCESS); /* moved */
    one_turn_at(&timing, 2015);
    cr_expect_eq(timing.count, 62);
    one_turn_at(&timing, 2020);
    cr_expect_eq(timing.count, 63);
    cr_expect_eq(timing.order[62], 61);
    for (int i = 1; i < 62; i++) {
        const int a = timing.order[i - 1], b = timing.order[i];
        const int due_a = a * 7 % 16, due_b = b * 7 % 16;

        cr_expect(due_a < due_b || (due_a == due_b && a < b), "%d before %d", a, b);
    }
    test_loop_close(&timing.bench);
}

EACH_ENGINE(loop, a_timer_removed_by_another_does_not_run)
{
    struct timing timing = { .now_ns = 1000 };
    struct timing_slot slots[2] = { { &timing, 0 }, { &timing, 1 } };

    test_loop_open(&timing.bench, engine);
    sx_loop_set_clock(timing.bench.loop, set_clock, &timing);
    for (int i = 0; i < 2; i++) {
        timing.timers[i] = (struct sx_timer){ .fn = on_timer, .arg = &slots[i] };
        cr_assert_eq(sx_timer_add(timing.bench.loop, &timing.timers[i], 1001), PMIX_SUCCESS);
    }
    timing.remove_on_fire = &timing.timers[1];
    one_turn_at(&timing, 1002);
    cr_expect_eq(timing.count, 1);
    test_loop_close(&timing.bench);
}

struct eager {
    struct bench_loop bench;
    struct sx_timer timer;
    int runs;
};

static void add_again(void *arg, uint64_t now_ns)
{
    struct eager *eager = arg;

    (void)now_ns;
    if (++eager->runs == 100) {
        sx_loop_stop(eager->bench.loop);
    } else {
        sx_timer_add(eager->bench.loop, &eager->timer, 0);
    }
}

EACH_ENGINE(loop, a_timer_that_is_always_due_runs_once_a_turn)
{
    struct eager eager = { .runs = 0 };

    test_loop_open(&eager.bench, engine);
    eager.timer = (struct sx_timer){ .fn = add_again, .arg = &eager };
    cr_assert_eq(sx_timer_add(eager.bench.loop, &eager.timer, 0), PMIX_SUCCESS);
    test_loop_run(&eager.bench, "100 turns");
    cr_expect_eq(sx_loop_stats(eager.bench.loop).turns, 100);
    test_loop_close(&eager.bench);
}

EACH_ENGINE(loop, a_real_timer_ends_a_sleep_and_is_not_early)
{
    struct timing timing = { .now_ns = 0 };
    struct sx_timer stop = { .fn = test_stop_turn, .arg = &timing.bench };

    test_loop_open(&timing.bench, engine);
    const uint64_t deadline_ns = sx_now_ns() + 3 * SX_NS_PER_MS;

    cr_assert_eq(sx_timer_add(timing.bench.loop, &stop, deadline_ns), PMIX_SUCCESS);
    test_loop_run(&timing.bench, "the timer");
    cr_expect_geq(sx_now_ns(), deadline_ns);
    test_loop_close(&timing.bench);
}

/* ---- readiness ---------------------------------------------------------------------------- */

struct reading {
    struct bench_loop bench;
    struct sx_poll poll;
    int calls, stop_at;
    uint32_t last;
};

static void read_one(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct reading *reading = arg;
    char byte;

    (void)now_ns;
    reading->last = revents;
    if ((revents & POLLIN) != 0) {
        cr_expect_eq(read(reading->poll.fd, &byte, 1), 1);
    }
    if (++reading->calls == reading->stop_at) {
        sx_loop_stop(reading->bench.loop);
    }
}

EACH_ENGINE(loop, readiness_is_level_triggered)
{
    struct reading reading = { .stop_at = 5 };
    int fds[2];

    test_loop_open(&reading.bench, engine);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    reading.poll = (struct sx_poll){
        .fd = fds[0], .events = POLLIN, .fn = read_one, .arg = &reading
    };
    cr_assert_eq(sx_poll_add(reading.bench.loop, &reading.poll), PMIX_SUCCESS);
    cr_assert_eq(write(fds[1], "12345", 5), 5);
    test_loop_run(&reading.bench, "five calls for five bytes");
    cr_expect_eq(reading.last, POLLIN);

    cr_assert_eq(sx_poll_modify(&reading.poll, POLLOUT), PMIX_SUCCESS);
    cr_assert_eq(write(fds[1], "6", 1), 1);
    reading.stop_at = 7;
    test_loop_run(&reading.bench, "two calls while it is writable");
    cr_expect_eq(reading.last, POLLOUT);

    cr_assert_eq(sx_poll_modify(&reading.poll, POLLIN), PMIX_SUCCESS);
    reading.stop_at = 8;
    test_loop_run(&reading.bench, "the sixth byte");
    cr_expect_eq(reading.last, POLLIN);
    sx_poll_remove(&reading.poll);
    sx_poll_remove(&reading.poll);
    cr_assert_eq(write(fds[1], "7", 1), 1);
    test_loop_settle(&reading.bench);
    cr_expect_eq(reading.calls, 8, "removed");
    close(fds[0]);
    close(fds[1]);
    test_loop_close(&reading.bench);
}

EACH_ENGINE(loop, two_sources_may_watch_one_descriptor)
{
    struct reading in = { .stop_at = 1 }, out = { .stop_at = 1 };
    int fds[2];

    test_loop_open(&in.bench, engine);
    out.bench = in.bench;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    in.poll = (struct sx_poll){ .fd = fds[0], .events = POLLIN, .fn = read_one, .arg = &in };
    out.poll = (struct sx_poll){ .fd = fds[0], .events = POLLOUT, .fn = read_one, .arg = &out };
    cr_assert_eq(sx_poll_add(in.bench.loop, &in.poll), PMIX_SUCCESS);
    cr_assert_eq(sx_poll_add(in.bench.loop, &out.poll), PMIX_SUCCESS);
    test_loop_run(&in.bench, "writable");
    cr_expect_eq(out.calls, 1);
    cr_expect_eq(in.calls, 0);
    sx_poll_remove(&out.poll);
    cr_assert_eq(write(fds[1], "x", 1), 1);
    test_loop_run(&in.bench, "readable");
    cr_expect_eq(in.calls, 1);
    sx_poll_remove(&in.poll);
    close(fds[0]);
    close(fds[1]);
    test_loop_close(&in.bench);
}

/* ---- removal inside callbacks ------------------------------------------------------------- */

struct mutual {
    struct bench_loop *bench;
    struct sx_poll poll;
    struct mutual *other;
    int *calls;
};

/* Whoever comes first removes both and frees their memory. */
static void remove_both(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct mutual *self = arg, *other = self->other;
    struct bench_loop *bench = self->bench;

    (void)revents;
    (void)now_ns;
    ++*self->calls;
    sx_poll_remove(&self->poll);
    sx_poll_remove(&other->poll);
    close(self->poll.fd);
    close(other->poll.fd);
    free(self);
    free(other);
    sx_loop_stop(bench->loop);
}

EACH_ENGINE(loop, a_callback_may_remove_and_free_itself_and_another)
{
    struct bench_loop bench;
    int calls = 0;

    test_loop_open(&bench, engine);
    for (int round = 0; round < 50; round++) {
        struct mutual *two[2] = { calloc(1, sizeof(**two)), calloc(1, sizeof(**two)) };
        int pipes[2][2];

        for (int i = 0; i < 2; i++) {
            cr_assert_eq(pipe2(pipes[i], O_CLOEXEC), 0);
            *two[i] = (struct mutual){ .bench = &bench, .other = two[1 - i], .calls = &calls };
            two[i]->poll = (struct sx_poll){
                .fd = pipes[i][0], .events = POLLIN, .fn = remove_both, .arg = two[i]
            };
            cr_assert_eq(sx_poll_add(bench.loop, &two[i]->poll), PMIX_SUCCESS);
            cr_assert_eq(write(pipes[i][1], "x", 1), 1);
        }
        test_loop_run(&bench, "one call");
        close(pipes[0][1]);
        close(pipes[1][1]);
    }
    test_loop_settle(&bench);
    cr_expect_eq(calls, 50, "never both");
    test_loop_close(&bench);
}

struct lone {
    struct bench_loop *bench;
    struct sx_recv recv;
    struct sx_accept accept;
    int *calls;
};

static void remove_on_message(void *arg, const struct sx_recv_message *message, uint64_t now_ns)
{
    struct lone *lone = arg;
    struct bench_loop *bench = lone->bench;

    (void)now_ns;
    cr_expect_not_null(message->bytes);
    ++*lone->calls;
    sx_recv_remove(&lone->recv);
    close(lone->recv.fd);
    free(lone);
    sx_loop_stop(bench->loop);
}

EACH_ENGINE(loop, a_receiver_removed_at_its_first_message_gets_no_other)
{
    struct bench_loop bench;
    int calls = 0, pair[2];

    test_loop_open(&bench, engine);
    const int before = test_count_fds();

    for (int round = 0; round < 20; round++) {
        struct lone *lone = calloc(1, sizeof(*lone));

        test_socket_pair(pair);
        *lone = (struct lone){ .bench = &bench,
                               .calls = &calls,
                               .recv = { .fd = pair[0], .fn = remove_on_message, .arg = lone } };
        cr_assert_eq(sx_recv_add(bench.loop, &lone->recv), PMIX_SUCCESS);
        for (int i = 0; i < 10; i++) {
            cr_assert_eq(descriptors_send(pair[1], "x", 1, -1, 0), 1);
        }
        test_loop_run(&bench, "one message");
        test_loop_settle(&bench);
        close(pair[1]);
    }
    cr_expect_eq(calls, 20);
    cr_expect_eq(test_count_fds(), before);
    test_loop_close(&bench);
}

/* ---- shares of a turn --------------------------------------------------------------------- */

struct paced {
    struct bench_loop bench;
    struct sx_recv recv;
    int ready_count, message_count, gone_count;
};

static void paced_is_ready(void *arg, uint64_t now_ns)
{
    struct paced *paced = arg;

    (void)now_ns;
    paced->ready_count++;
    sx_loop_stop(paced->bench.loop);
}

static void paced_on_message(void *arg, const struct sx_recv_message *message, uint64_t now_ns)
{
    struct paced *paced = arg;

    (void)now_ns;
    *(message->bytes != NULL ? &paced->message_count : &paced->gone_count) += 1;
}

EACH_ENGINE(loop, messages_stay_in_the_socket_until_they_are_taken)
{
    struct paced paced = { .ready_count = 0 };
    int pair[2];

    test_loop_open(&paced.bench, engine);
    test_socket_pair(pair);
    paced.recv = (struct sx_recv){
        .fd = pair[0], .fn = paced_on_message, .ready = paced_is_ready, .arg = &paced
    };
    cr_assert_eq(sx_recv_add(paced.bench.loop, &paced.recv), PMIX_SUCCESS);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(descriptors_send(pair[1], "x", 1, -1, 0), 1);
    }
    close(pair[1]);
    for (int i = 1; i <= 3; i++) {
        test_loop_run(&paced.bench, "word of a message");
        test_loop_settle(&paced.bench);
        cr_expect_eq(paced.ready_count, i, "told once");
        cr_expect_eq(paced.message_count, i - 1, "none comes unasked");
        sx_recv_take(&paced.recv, 0);
        cr_expect_eq(paced.message_count, i);
    }
    test_loop_run(&paced.bench, "word of the end");
    cr_expect_eq(paced.gone_count, 0);
    sx_recv_take(&paced.recv, 0);
    cr_expect_eq(paced.gone_count, 1);
    cr_expect_null(paced.recv.source.loop);
    sx_recv_take(&paced.recv, 0); /* removed: nothing happens */
    cr_expect_eq(paced.gone_count, 1);
    test_loop_close(&paced.bench);
    close(pair[0]);
}

/* Between two turns: what came in the one before. */
struct shares {
    struct echo *echo;
    int turns, messages_before, conns_before, messages_most, conns_most;
};

static void shares_on_turn(void *arg, uint64_t now_ns)
{
    struct shares *shares = arg;
    struct echo *echo = shares->echo;
    const int messages = echo->message_count - shares->messages_before;
    const int conns = echo->conn_count - shares->conns_before;

    (void)now_ns;
    shares->turns++;
    shares->messages_before = echo->message_count;
    shares->conns_before = echo->conn_count;
    shares->messages_most = messages > shares->messages_most ? messages : shares->messages_most;
    shares->conns_most = conns > shares->conns_most ? conns : shares->conns_most;
}

EACH_ENGINE(loop, a_turn_takes_one_message_of_each_peer)
{
    enum { MESSAGES = 20 };
    struct echo *echo = echo_open(engine);
    struct shares shares = { .echo = echo };
    const struct sx_loop_hooks hooks = { .turn = shares_on_turn, .arg = &shares };
    int loud[2], quiet[2];

    test_socket_pair(loud);
    test_socket_pair(quiet);
    for (int i = 0; i < MESSAGES; i++) {
        cr_assert_eq(descriptors_send(loud[1], "x", 1, -1, 0), 1);
    }
    cr_assert_eq(descriptors_send(quiet[1], "x", 1, -1, 0), 1);
    sx_loop_set_hooks(echo->bench.loop, &hooks);
    echo->stop_at_messages = MESSAGES + 1;
    add_conn(echo, loud[0]);
    add_conn(echo, quiet[0]);
    test_loop_run(&echo->bench, "all messages");
    cr_expect_leq(shares.messages_most, 2, "one of each");
    cr_expect_geq(shares.turns, MESSAGES);
    echo_close(echo);
    close(loud[1]);
    close(quiet[1]);
}

EACH_ENGINE(loop, a_turn_accepts_a_few_connections)
{
    enum { COUNT = 3 * SX_ACCEPT_BATCH_MAX + 1 };
    struct echo *echo = echo_open(engine);
    struct shares shares = { .echo = echo };
    const struct sx_loop_hooks hooks = { .turn = shares_on_turn, .arg = &shares };
    struct sockaddr_un address;
    socklen_t size;
    int fds[COUNT];

    echo->accept = (struct sx_accept){ .fn = on_accept, .arg = echo };
    echo->accept.fd = make_listener(&address, &size);
    for (int i = 0; i < COUNT; i++) {
        fds[i] = connect_to(&address, size);
    }
    sx_loop_set_hooks(echo->bench.loop, &hooks);
    echo->stop_at_conns = COUNT;
    cr_assert_eq(sx_accept_add(echo->bench.loop, &echo->accept), PMIX_SUCCESS);
    test_loop_run(&echo->bench, "all connections");
    cr_expect_eq(shares.conns_most, SX_ACCEPT_BATCH_MAX);
    for (int i = 0; i < COUNT; i++) {
        close(fds[i]);
    }
    const int listener = echo->accept.fd;
    echo_close(echo);
    close(listener);
}

static void remove_on_accept(void *arg, int fd, uint64_t now_ns)
{
    struct lone *lone = arg;
    struct bench_loop *bench = lone->bench;

    (void)now_ns;
    close(fd);
    ++*lone->calls;
    sx_accept_remove(&lone->accept);
    free(lone);
    sx_loop_stop(bench->loop);
}

EACH_ENGINE(loop, an_acceptor_removed_at_its_first_connection_gets_no_other)
{
    struct bench_loop bench;
    struct sockaddr_un address;
    socklen_t size;
    struct lone *lone = calloc(1, sizeof(*lone));
    int calls = 0, clients[8];

    test_loop_open(&bench, engine);
    const int before = test_count_fds();
    const int listener = make_listener(&address, &size);

    *lone = (struct lone){ .bench = &bench,
                           .calls = &calls,
                           .accept = { .fd = listener, .fn = remove_on_accept, .arg = lone } };
    for (int i = 0; i < 8; i++) {
        clients[i] = connect_to(&address, size);
    }
    cr_assert_eq(sx_accept_add(bench.loop, &lone->accept), PMIX_SUCCESS);
    test_loop_run(&bench, "one connection");
    test_loop_settle(&bench);
    cr_expect_eq(calls, 1);
    for (int i = 0; i < 8; i++) {
        close(clients[i]);
    }
    close(listener);
    cr_expect_eq(test_count_fds(), before, "connections that nobody wanted are closed");
    test_loop_close(&bench);
}

EACH_ENGINE(loop, freeing_the_loop_drops_sources_that_are_still_added)
{
    struct bench_loop bench;
    struct reading reading = { .stop_at = 1 };
    struct sx_timer timer = { .fn = test_stop_turn, .arg = &bench };
    int pair[2], calls = 0;

    test_loop_open(&bench, engine);
    test_socket_pair(pair);
    struct lone lone = { .bench = &bench,
                         .calls = &calls,
                         .recv = { .fd = pair[0], .fn = remove_on_message, .arg = &lone } };

    reading.poll = (struct sx_poll){
        .fd = pair[1], .events = POLLIN, .fn = read_one, .arg = &reading
    };
    cr_assert_eq(sx_poll_add(bench.loop, &reading.poll), PMIX_SUCCESS);
    cr_assert_eq(sx_recv_add(bench.loop, &lone.recv), PMIX_SUCCESS);
    cr_assert_eq(sx_timer_add(bench.loop, &timer, SX_DEADLINE_NEVER), PMIX_SUCCESS);
    test_loop_settle(&bench);
    test_loop_close(&bench);
    cr_expect_null(timer.source.loop);
    sx_poll_remove(&reading.poll);
    sx_recv_remove(&lone.recv);
    sx_timer_remove(&timer);
    close(pair[0]);
    close(pair[1]);
}

/* ---- deaths and words --------------------------------------------------------------------- */

EACH_ENGINE(loop, a_pidfd_notifies_a_death)
{
    struct reading reading = { .stop_at = 1 };

    test_loop_open(&reading.bench, engine);
    const pid_t pid = fork();

    if (pid == 0) {
        for (;;) {
            pause();
        }
    }
    cr_assert_gt(pid, 0);
    reading.poll.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (reading.poll.fd < 0) {
        kill(pid, SIGKILL);
        cr_skip_test("no pidfd_open: %s", strerror(errno));
    }
    reading.poll.events = POLLIN;
    reading.poll.fn = read_one;
    reading.poll.arg = &reading;
    cr_assert_eq(sx_poll_add(reading.bench.loop, &reading.poll), PMIX_SUCCESS);
    test_loop_settle(&reading.bench);
    cr_expect_eq(reading.calls, 0);
    const int pidfd = reading.poll.fd;

    reading.poll.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC); /* read_one reads from here */
    kill(pid, SIGKILL);
    test_loop_run(&reading.bench, "the death");
    cr_expect_eq(reading.last & POLLIN, POLLIN);
    sx_poll_remove(&reading.poll);
    close(pidfd);
    close(reading.poll.fd);
    waitpid(pid, NULL, 0);
    test_loop_close(&reading.bench);
}

struct wording {
    struct bench_loop bench;
    struct sx_futex futex;
    int calls;
};

static void on_word(void *arg, uint64_t now_ns)
{
    struct wording *wording = arg;

    (void)now_ns;
    cr_expect_null(wording->futex.source.loop);
    wording->calls++;
    sx_loop_stop(wording->bench.loop);
}

static void *change_word(void *arg)
{
    struct wording *wording = arg;

    atomic_store(wording->futex.word, 8);
    syscall(SYS_futex, wording->futex.word, FUTEX_WAKE, 1, NULL, NULL, 0);
    return NULL;
}

EACH_ENGINE(loop, a_word_that_changes_is_notified_once)
{
    struct wording wording = { .calls = 0 };
    pthread_t thread;

    test_loop_open(&wording.bench, engine);
    _Atomic uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                  -1, 0);

    atomic_store(word, 7);
    wording.futex = (struct sx_futex){ .word = word, .seen = 7, .fn = on_word, .arg = &wording };
    const pmix_status_t rc = sx_futex_add(wording.bench.loop, &wording.futex);

    if (engine == TEST_EPOLL) {
        cr_expect_eq(rc, PMIX_ERR_NOT_SUPPORTED);
        test_loop_close(&wording.bench);
        return;
    }
    if (rc == PMIX_ERR_NOT_SUPPORTED) {
        cr_skip_test("this kernel has no futex wait in io_uring (6.7)");
    }
    cr_assert_eq(rc, PMIX_SUCCESS);
    test_loop_settle(&wording.bench);
    cr_expect_eq(wording.calls, 0);
    cr_assert_eq(pthread_create(&thread, NULL, change_word, &wording), 0);
    test_loop_run(&wording.bench, "the change");
    pthread_join(thread, NULL);
    cr_expect_eq(wording.calls, 1);

    cr_assert_eq(sx_futex_add(wording.bench.loop, &wording.futex), PMIX_SUCCESS);
    test_loop_run(&wording.bench, "a word that is no longer what was seen");
    cr_expect_eq(wording.calls, 2);

    wording.futex.seen = 8;
    cr_assert_eq(sx_futex_add(wording.bench.loop, &wording.futex), PMIX_SUCCESS);
    test_loop_settle(&wording.bench);
    sx_futex_remove(&wording.futex);
    test_loop_settle(&wording.bench);
    cr_expect_eq(wording.calls, 2, "removed");
    test_loop_close(&wording.bench);
    munmap((void *)word, 4096);
}

/* ---- hooks and idleness ------------------------------------------------------------------- */

struct hooking {
    struct bench_loop bench;
    int work_left, asked, awake, turns, slept_unasked;
    struct reading reading;
};

static bool about_to_sleep(void *arg)
{
    struct hooking *hooking = arg;

    hooking->asked++;
    return hooking->work_left > 0 && hooking->work_left-- > 0;
}

static void on_awake(void *arg, uint64_t now_ns)
{
    struct hooking *hooking = arg;

    (void)now_ns;
    hooking->awake++;
}

static void on_turn(void *arg, uint64_t now_ns)
{
    struct hooking *hooking = arg;

    (void)now_ns;
    hooking->turns++;
}

EACH_ENGINE(loop, asks_before_every_sleep_and_polls_while_there_is_work)
{
    struct hooking hooking = { .work_left = 5 };
    const struct sx_loop_hooks hooks = {
        .about_to_sleep = about_to_sleep, .awake = on_awake, .turn = on_turn, .arg = &hooking
    };
    struct sx_timer stop = { .fn = test_stop_turn, .arg = &hooking.bench };

    test_loop_open(&hooking.bench, engine);
    sx_loop_set_hooks(hooking.bench.loop, &hooks);
    cr_assert_eq(sx_timer_add(hooking.bench.loop, &stop, sx_now_ns() + 50 * SX_NS_PER_MS),
                 PMIX_SUCCESS);
    test_loop_run(&hooking.bench, "a sleep");
    const struct sx_loop_stats stats = sx_loop_stats(hooking.bench.loop);

    cr_expect_eq(hooking.work_left, 0);
    cr_expect_eq((uint64_t)hooking.turns, stats.turns);
    cr_expect_eq((uint64_t)hooking.awake, stats.sleeps);
    cr_expect_eq(hooking.asked, 5 + hooking.awake);
    cr_expect_geq(hooking.awake, 1);
    test_loop_close(&hooking.bench);
}

EACH_ENGINE(loop, sees_events_while_the_hook_keeps_it_from_sleeping)
{
    struct hooking hooking = { .work_left = 1 << 30 };
    const struct sx_loop_hooks hooks = {
        .about_to_sleep = about_to_sleep, .awake = on_awake, .turn = on_turn, .arg = &hooking
    };
    struct reading *reading = &hooking.reading;
    int fds[2];

    test_loop_open(&hooking.bench, engine);
    sx_loop_set_hooks(hooking.bench.loop, &hooks);
    reading->bench = hooking.bench;
    reading->stop_at = 100;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    reading->poll = (struct sx_poll){
        .fd = fds[0], .events = POLLIN, .fn = read_one, .arg = reading
    };
    cr_assert_eq(sx_poll_add(hooking.bench.loop, &reading->poll), PMIX_SUCCESS);
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(write(fds[1], "x", 1), 1);
    }
    test_loop_run(&hooking.bench, "100 bytes");
    cr_expect_eq(hooking.awake, 0);
    close(fds[0]);
    close(fds[1]);
    test_loop_close(&hooking.bench);
}

static void *run_loop(void *arg)
{
    sx_loop_run(arg);
    return NULL;
}

struct marking {
    struct sx_loop *loop;
    sem_t ran;
    uint64_t turns;
};

static void mark_turn(void *arg, uint64_t now_ns)
{
    struct marking *marking = arg;

    (void)now_ns;
    marking->turns = sx_loop_stats(marking->loop).turns;
    sem_post(&marking->ran);
}

struct ticking {
    struct bench_loop bench;
    struct sx_timer timer;
    int left;
};

static void tick(void *arg, uint64_t now_ns)
{
    struct ticking *ticking = arg;

    if (--ticking->left == 0) {
        sx_loop_stop(ticking->bench.loop);
    } else {
        sx_timer_add(ticking->bench.loop, &ticking->timer, now_ns + SX_NS_PER_MS);
    }
}

/* While one loop ticks 200 times, another that has nothing to do takes no turn at all. */
EACH_ENGINE(loop, an_idle_loop_does_nothing)
{
    struct bench_loop idle;
    struct ticking ticking = { .left = 200 };
    struct sx_loop_stats before, after;
    struct marking marking = { .turns = 0 };
    pthread_t thread;
    int pair[2], calls = 0;

    test_loop_open(&idle, engine);
    test_loop_open(&ticking.bench, engine);
    test_socket_pair(pair);
    struct lone lone = { .bench = &idle,
                         .calls = &calls,
                         .recv = { .fd = pair[0], .fn = remove_on_message, .arg = &lone } };

    cr_assert_eq(sx_recv_add(idle.loop, &lone.recv), PMIX_SUCCESS);
    marking.loop = idle.loop;
    sem_init(&marking.ran, 0, 0);
    cr_assert_eq(pthread_create(&thread, NULL, run_loop, idle.loop), 0);
    struct sx_loop_post post = { .fn = mark_turn, .arg = &marking };

    cr_assert_eq(sx_loop_post(idle.loop, &post), PMIX_SUCCESS);
    sem_wait(&marking.ran);
    ticking.timer = (struct sx_timer){ .fn = tick, .arg = &ticking };
    do { /* until the turn that ran the post has ended and the next sleep has begun */
        sched_yield();
        before = sx_loop_stats(idle.loop);
    } while (before.turns <= marking.turns || before.sleeps <= before.turns);
    cr_assert_eq(sx_timer_add(ticking.bench.loop, &ticking.timer, sx_now_ns()), PMIX_SUCCESS);
    test_loop_run(&ticking.bench, "200 ticks");
    after = sx_loop_stats(idle.loop);
    cr_expect_eq(after.turns, before.turns);
    cr_expect_eq(after.sleeps, before.sleeps);
    sx_loop_stop(idle.loop);
    pthread_join(thread, NULL);
    sem_destroy(&marking.ran);
    test_loop_close(&idle);
    test_loop_close(&ticking.bench);
    close(pair[0]);
    close(pair[1]);
}

/* ---- life --------------------------------------------------------------------------------- */

EACH_ENGINE(loop, a_stop_before_the_run_ends_it_at_once)
{
    struct bench_loop bench;

    test_loop_open(&bench, engine);
    sx_loop_stop(bench.loop);
    test_loop_run(&bench, "nothing");
    test_loop_close(&bench);
}

EACH_ENGINE(loop, leaves_no_descriptor_behind)
{
    struct bench_loop bench;

    test_loop_open(&bench, engine); /* whatever is opened once for all */
    test_loop_close(&bench);
    const int before = test_count_fds();

    for (int i = 0; i < 20; i++) {
        test_loop_open(&bench, engine);
        test_loop_settle(&bench);
        test_loop_close(&bench);
    }
    cr_expect_eq(test_count_fds(), before);
}

Test(loop, an_unknown_engine_is_an_error_that_names_the_choice)
{
    struct sx_loop *loop = NULL;
    const int log_fd = test_capture_stderr();

    setenv("SHMIX_LOOP", "kqueue", 1);
    cr_expect_eq(sx_loop_new(&loop), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(test_count_lines(log_fd, "set it to uring or epoll"), 1);
}

/* As the default filter of a container engine does. */
static void refuse_io_uring(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = SX_COUNT(code), .filter = code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        cr_skip_test("no seccomp filter here: %s", strerror(errno));
    }
}

Test(loop, falls_back_to_epoll_where_io_uring_is_refused_unless_it_is_forced)
{
    struct sx_loop *loop = NULL;
    const int log_fd = test_capture_stderr();

    refuse_io_uring();
    unsetenv("SHMIX_LOOP");
    cr_assert_eq(sx_loop_new(&loop), PMIX_SUCCESS);
    cr_expect_str_eq(sx_loop_engine(loop), "epoll");
    sx_loop_free(loop);
    cr_expect_eq(test_count_lines(log_fd, ""), 0, "not worth a line");
    setenv("SHMIX_LOOP", "uring", 1);
    cr_expect_eq(sx_loop_new(&loop), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(test_count_lines(log_fd, "unset SHMIX_LOOP"), 1);
}

Test(loop, takes_some_engine_when_none_is_forced)
{
    struct sx_loop *loop = NULL;

    unsetenv("SHMIX_LOOP");
    cr_assert_eq(sx_loop_new(&loop), PMIX_SUCCESS);
    cr_expect_null(sx_loop_free(loop));
    cr_expect_null(sx_loop_free(NULL));
}

/* ---- a kernel that refuses the wait --------------------------------------------------------- */

struct refused {
    struct sx_loop *loop;
    struct sx_loop_post post;
    struct sx_timer timer;
    pthread_t poster;
    int broken_count, post_count, timer_count;
};

static int wait_refused(struct sx_loop *loop, uint64_t timeout_ns)
{
    (void)loop;
    (void)timeout_ns;
    return EPERM;
}

static void refused_timer(void *arg, uint64_t now_ns)
{
    struct refused *const refused = arg;

    (void)now_ns;
    refused->timer_count++;
    sx_loop_stop(refused->loop);
}

static void refused_post(void *arg, uint64_t now_ns)
{
    struct refused *const refused = arg;

    refused->post_count++;
    refused->timer = (struct sx_timer){ .fn = refused_timer, .arg = refused };
    cr_expect_eq(sx_timer_add(refused->loop, &refused->timer, now_ns + 1000), PMIX_SUCCESS);
}

static void *refused_poster(void *arg)
{
    struct refused *const refused = arg;

    cr_expect_eq(sx_loop_post(refused->loop, &refused->post), PMIX_SUCCESS);
    return NULL;
}

static void refused_broken(void *arg, uint64_t now_ns)
{
    struct refused *const refused = arg;

    (void)now_ns;
    if (refused->broken_count++ == 0) {
        cr_assert_eq(pthread_create(&refused->poster, NULL, refused_poster, refused), 0);
    }
}

Test(loop, that_cannot_wait_calls_broken_once_and_runs_posts_and_timers)
{
    struct refused refused = { .post = { .fn = refused_post, .arg = &refused } };

    cr_assert_eq(sx_loop_new(&refused.loop), PMIX_SUCCESS);
    struct sx_loop_engine refusing = *refused.loop->engine;

    refusing.wait = wait_refused;
    refused.loop->engine = &refusing;
    sx_loop_set_hooks(refused.loop,
                      &(struct sx_loop_hooks){ .broken = refused_broken, .arg = &refused });
    sx_loop_run(refused.loop);
    cr_expect_eq(refused.broken_count, 1);
    cr_expect_eq(refused.post_count, 1);
    cr_expect_eq(refused.timer_count, 1);
    pthread_join(refused.poster, NULL);
    sx_loop_free(refused.loop);
}
