/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* board_test.c - slots come and go, the server's sleep is seen, its end is heard. */
#include "support.h"

#include <pthread.h>

#include "ring/board.h"

TestSuite(board, .timeout = 60);

static struct sx_board board_new(void)
{
    struct sx_board board;

    cr_assert_eq(sx_board_create(&board, "test", NULL), PMIX_SUCCESS);
    return board;
}

static struct sx_board board_view(const struct sx_board *board)
{
    struct sx_board view;
    const int fd = test_share(&board->seg);

    cr_assert_eq(sx_board_attach(&view, fd), PMIX_SUCCESS);
    close(fd);
    return view;
}

Test(board, a_claimed_slot_is_live_fresh_and_backed)
{
    struct sx_board board = board_new(), view = board_view(&board);
    uint32_t index[3];

    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(sx_board_slot_claim(&board, &index[i]), PMIX_SUCCESS);
        cr_assert_eq(index[i], i);
        cr_assert_eq(atomic_load(&view.slots[i].state), SX_SLOT_LIVE);
        cr_assert_leq((uint64_t)((uint8_t *)&view.slots[i + 1] - view.seg.base),
                      atomic_load(&sx_segment_header(&view.seg)->used_bytes));
    }
    atomic_store(&board.slots[1].lane_head, 77);
    sx_board_slot_want_data(&board, 1, true);
    sx_door_ring(&board.slots[1].bell, SX_BELL_ALL, 1);
    cr_expect_eq(atomic_load(&view.slots[1].data_wanted), 1);
    sx_board_slot_abandon(&board, 1);
    cr_expect_eq(atomic_load(&view.slots[1].state), SX_SLOT_FREE);
    cr_assert_eq(sx_board_slot_claim(&board, &index[0]), PMIX_SUCCESS);
    cr_expect_eq(index[0], 1, "the returned slot is used again");
    cr_expect_eq(atomic_load(&view.slots[1].lane_head), 0);
    cr_expect_eq(atomic_load(&view.slots[1].data_wanted), 0);
    cr_expect_eq(sx_door_epoch(&view.slots[1].bell), 1, "a bell counts on");
    sx_board_deinit(&view);
    sx_board_deinit(&board);
    sx_board_deinit(&board);
}

/* Who had the slot before is told of no more. */
Test(board, a_slot_notifies_who_its_client_is)
{
    const struct sx_board_client first = { .pid = 4711, .uid = 1000, .rank = 3, .role = 1 };
    struct sx_board board = board_new(), view = board_view(&board);
    struct sx_board_client shown;
    uint32_t index;

    cr_expect_not(sx_board_slot_client(&view, 0, &shown), "never given");
    cr_assert_eq(sx_board_slot_claim(&board, &index), PMIX_SUCCESS);
    cr_expect_not(sx_board_slot_client(&view, index, &shown), "not told");
    sx_board_slot_notify(&board, index, &first);
    cr_assert(sx_board_slot_client(&view, index, &shown));
    cr_expect_eq(memcmp(&shown, &first, sizeof(shown)), 0);
    sx_board_slot_abandon(&board, index);
    cr_expect_not(sx_board_slot_client(&view, index, &shown), "free");
    cr_assert_eq(sx_board_slot_claim(&board, &index), PMIX_SUCCESS);
    cr_expect_not(sx_board_slot_client(&view, index, &shown), "given again");
    sx_board_deinit(&view);
    sx_board_deinit(&board);
}

/* A dropped client looks only when its slot has another one: it is dropped all the same. */
Test(board, a_slot_that_was_given_again_does_not_live_for_its_first_client)
{
    struct sx_board board = board_new(), view = board_view(&board);
    uint32_t index;

    cr_assert_eq(sx_board_slot_claim(&board, &index), PMIX_SUCCESS);
    const uint32_t claims = atomic_load(&view.slots[index].claims);
    cr_expect(sx_board_slot_lives(&view.slots[index], claims));
    sx_board_slot_abandon(&board, index);
    cr_expect_not(sx_board_slot_lives(&view.slots[index], claims));
    cr_assert_eq(sx_board_slot_claim(&board, &index), PMIX_SUCCESS);
    cr_expect_not(sx_board_slot_lives(&view.slots[index], claims));
    cr_expect(sx_board_slot_lives(&view.slots[index], claims + 1));
    sx_board_deinit(&view);
    sx_board_deinit(&board);
}

Test(board, slots_run_out_with_a_status_and_come_back)
{
    struct sx_board board = board_new();
    uint32_t index;

    for (uint32_t i = 0; i < SX_BOARD_SLOT_MAX; i++) {
        cr_assert_eq(sx_board_slot_claim(&board, &index), PMIX_SUCCESS);
    }
    cr_expect_eq(sx_board_slot_claim(&board, &index), PMIX_ERR_OUT_OF_RESOURCE);
    for (uint32_t i = 0; i < SX_BOARD_SLOT_MAX; i++) {
        sx_board_slot_abandon(&board, i);
    }
    for (uint32_t i = 0; i < SX_BOARD_SLOT_MAX; i++) {
        cr_assert_eq(sx_board_slot_claim(&board, &index), PMIX_SUCCESS);
    }
    cr_expect_eq(sx_board_slot_claim(&board, &index), PMIX_ERR_OUT_OF_RESOURCE);
    sx_board_deinit(&board);
}

Test(board, attach_refuses_slots_outside_the_segment)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = 2 * page + SX_BOARD_SLOT_MAX * 64;
    const uint32_t life = (uint32_t)page - SX_LIFE_SHOWN_BYTES;
    const struct {
        const char *why;
        uint64_t slots_off;
        uint32_t slot_count, life_off;
        pmix_status_t want;
    } rows[] = {
        { "as made", 2 * page, SX_BOARD_SLOT_MAX, life, PMIX_SUCCESS },
        { "fewer slots", 2 * page, 3, life, PMIX_SUCCESS },
        { "as small pages would have it", 1024, 3, 512, PMIX_SUCCESS },
        { "none", 2 * page, 0, life, PMIX_ERR_BAD_PARAM },
        { "more than there can be", 2 * page, SX_BOARD_SLOT_MAX + 1, life, PMIX_ERR_BAD_PARAM },
        { "over the header", 448, 3, life, PMIX_ERR_BAD_PARAM },
        { "between lines", 2 * page + 8, 3, life, PMIX_ERR_BAD_PARAM },
        { "past the end", size, 1, life, PMIX_ERR_BAD_PARAM },
        { "overflow", UINT64_MAX - 63, 3, life, PMIX_ERR_BAD_PARAM },
        { "life in the header", 2 * page, 3, 448, PMIX_ERR_BAD_PARAM },
        { "life across words", 2 * page, 3, life + 2, PMIX_ERR_BAD_PARAM },
        { "life among the slots", 1024, 3, 1004, PMIX_ERR_BAD_PARAM },
        { "life past the end", 2 * page, 3, UINT32_MAX - 3, PMIX_ERR_BAD_PARAM },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_board board = board_new(), view;
        const int fd = test_share(&board.seg);

        board.header->slots_off = rows[i].slots_off;
        board.header->slot_count = rows[i].slot_count;
        board.header->life_off = rows[i].life_off;
        cr_expect_eq(sx_board_attach(&view, fd), rows[i].want, "%s", rows[i].why);
        sx_board_deinit(&view);
        sx_board_deinit(&board);
        close(fd);
    }
}

/* The holder's list of held mutexes goes through this one, and not through anybody else's
 * memory. */
Test(board, a_held_life_word_shows_a_thread_and_no_address)
{
    struct sx_board board = board_new(), view = board_view(&board);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    cr_assert_eq(sx_board_live(&board), PMIX_SUCCESS);
    cr_assert_eq((const uint8_t *)view.life_word + SX_LIFE_SHOWN_BYTES, view.seg.base + page);
    cr_expect_neq(memcmp(board.seg.base + page, view.seg.base + page, 16), 0,
                  "the C library has linked it there");
    for (size_t i = 0; i < page; i++) {
        cr_assert_eq(view.seg.base[page + i], 0, "byte %zu", i);
    }
    sx_board_end(&board);
    sx_board_deinit(&view);
    sx_board_deinit(&board);
}

Test(board, the_sleep_epoch_is_odd_while_asleep)
{
    struct sx_board board = board_new(), view = board_view(&board);

    cr_expect_eq(atomic_load(&view.header->sleep_epoch), 0);
    sx_board_wake(&board);
    cr_expect_eq(atomic_load(&view.header->sleep_epoch), 0);
    sx_board_sleep(&board);
    sx_board_sleep(&board);
    cr_expect_eq(atomic_load(&view.header->sleep_epoch), 1);
    sx_board_wake(&board);
    sx_board_wake(&board);
    cr_expect_eq(atomic_load(&view.header->sleep_epoch), 2);
    sx_board_deinit(&view);
    sx_board_deinit(&board);
}

Test(board, lives_from_live_to_the_orderly_end, .timeout = 60)
{
    struct sx_board board = board_new(), view = board_view(&board);
    struct sx_bell_watch watch;

    cr_expect_not(sx_board_server_lives(&view), "not yet");
    cr_assert_eq(sx_board_live(&board), PMIX_SUCCESS);
    cr_expect(sx_board_server_lives(&view));
    watch = (struct sx_bell_watch){ view.life_word, sx_board_life_seen(&view) };
    cr_expect_eq(watch.seen & SX_LIFE_TID_MASK, (uint32_t)test_tid());
    cr_expect_neq(watch.seen & SX_LIFE_WAITERS, 0, "or the kernel wakes nobody");
    cr_expect_eq(sx_bell_wait(&watch, 1, SX_BELL_ALL, 0), PMIX_ERR_TIMEOUT);
    sx_board_end(&board);
    cr_expect_not(sx_board_server_lives(&view));
    cr_expect_eq(sx_bell_wait(&watch, 1, SX_BELL_ALL, SX_DEADLINE_NEVER), PMIX_SUCCESS);
    watch.seen = sx_board_life_seen(&view);
    cr_expect_eq(sx_bell_wait(&watch, 1, SX_BELL_ALL, SX_DEADLINE_NEVER), PMIX_SUCCESS,
                 "nobody falls asleep on a dead server");
    sx_board_end(&board);
    sx_board_deinit(&view);
    sx_board_deinit(&board);
}

static void *live_and_leave(void *arg)
{
    cr_assert_eq(sx_board_live(arg), PMIX_SUCCESS);
    return NULL;
}

Test(board, a_loop_thread_that_returns_counts_as_dead)
{
    struct sx_board board = board_new(), view = board_view(&board);
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, live_and_leave, &board), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_expect_not(sx_board_server_lives(&view));
    sx_board_deinit(&view);
    sx_board_deinit(&board);
}

Test(board, only_one_thread_can_hold_the_life_word)
{
    struct sx_board board = board_new();

    cr_assert_eq(sx_board_live(&board), PMIX_SUCCESS);
    cr_expect_eq(sx_board_live(&board), PMIX_ERR_RESOURCE_BUSY);
    cr_expect(sx_board_server_lives(&board));
    sx_board_end(&board);
    sx_board_deinit(&board);
}

/* ---- servers in other processes ------------------------------------------------------------ */

struct server {
    pid_t pid;
    int sock;
};

/* A server that lives until it gets a byte: 'e' an orderly end, 'x' plain exit, 'f' fork a child
 * that stays, say so, and exit. */
static void serve(int sock)
{
    struct sx_board board;
    char byte;

    TEST_CHILD_NEEDS(sx_board_create(&board, "server", NULL) == PMIX_SUCCESS);
    TEST_CHILD_NEEDS(sx_board_live(&board) == PMIX_SUCCESS);
    TEST_CHILD_NEEDS(descriptors_send(sock, "", 1, test_share(&board.seg), 1) == 1);
    TEST_CHILD_NEEDS(read(sock, &byte, 1) == 1);
    if (byte == 'e') {
        sx_board_end(&board);
        TEST_CHILD_NEEDS(read(sock, &byte, 1) == 1);
    }
    if (byte == 'f' && fork() == 0) {
        sx_board_end(&board); /* not its to end */
        TEST_CHILD_NEEDS(write(sock, "c", 1) == 1);
        TEST_CHILD_NEEDS(read(sock, &byte, 1) == 1);
        _exit(0);
    }
    if (byte == 'f') {
        TEST_CHILD_NEEDS(read(sock, &byte, 1) == 1);
    }
    _exit(0);
}

static struct server server_start(struct sx_board *ret_view)
{
    struct server server;
    int socks[2], fd;

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
    server.pid = fork();
    if (server.pid == 0) {
        close(socks[0]);
        serve(socks[1]);
    }
    cr_assert_gt(server.pid, 0);
    close(socks[1]);
    server.sock = socks[0];
    fd = descriptor_receive(server.sock, 0);
    cr_assert_eq(sx_board_attach(ret_view, fd), PMIX_SUCCESS);
    close(fd);
    return server;
}

Test(board, a_forked_child_of_the_server_is_not_the_server, .timeout = 60)
{
    struct sx_board view;
    struct server server = server_start(&view);
    char byte;

    cr_expect(sx_board_server_lives(&view));
    cr_assert_eq(write(server.sock, "f", 1), 1);
    cr_assert_eq(read(server.sock, &byte, 1), 1);
    cr_assert_eq(byte, 'c');
    cr_expect(sx_board_server_lives(&view), "its child ended nothing");
    cr_assert_eq(kill(server.pid, SIGKILL), 0);
    cr_assert_eq(test_wait(server.pid), 128 + SIGKILL);
    cr_expect_not(sx_board_server_lives(&view), "the child keeps nothing alive");
    cr_assert_eq(write(server.sock, "x", 1), 1);
    close(server.sock);
    sx_board_deinit(&view);
}

#define SLEEPERS 16

struct sleepers {
    struct sx_board view;
    _Atomic pid_t tids[SLEEPERS];
    _Atomic unsigned next;
};

static void *sleep_until_it_dies(void *arg)
{
    struct sleepers *const all = arg;
    const unsigned me = atomic_fetch_add(&all->next, 1);
    const struct sx_bell_watch watch[2] = {
        sx_door_watch(&all->view.slots[0].bell),
        { all->view.life_word, sx_board_life_seen(&all->view) },
    };

    atomic_store(&all->tids[me], test_tid());
    do {
        TEST_CHILD_NEEDS(
            sx_bell_wait(watch, 2, SX_BELL_ALL, sx_deadline_ns(sx_now_ns(), TEST_PATIENCE_NS)) ==
            PMIX_SUCCESS);
    } while (sx_board_server_lives(&all->view));
    return NULL;
}

static bool all_asleep(struct sleepers *all)
{
    for (unsigned i = 0; i < SLEEPERS; i++) {
        const pid_t tid = atomic_load(&all->tids[i]);

        if (tid == 0 || !test_asleep(tid)) {
            return false;
        }
    }
    return true;
}

/* In a process that is neither the server nor its parent: sleep, say when all sleep, hear it. */
static void be_sleepers(const struct sx_board *view, int sock)
{
    static struct sleepers all;
    pthread_t threads[SLEEPERS];

    all.view = *view;
    for (unsigned i = 0; i < SLEEPERS; i++) {
        TEST_CHILD_NEEDS(pthread_create(&threads[i], NULL, sleep_until_it_dies, &all) == 0);
    }
    TEST_UNTIL(all_asleep(&all));
    TEST_CHILD_NEEDS(write(sock, "s", 1) == 1);
    for (unsigned i = 0; i < SLEEPERS; i++) {
        TEST_CHILD_NEEDS(pthread_join(threads[i], NULL) == 0);
    }
    _exit(0);
}

static void sleepers_receive_of(bool killed, bool waitv)
{
    setenv("SHMIX_WAITV", waitv ? "1" : "0", 1);
    for (unsigned round = 0; round < 5; round++) {
        struct sx_board view;
        struct server server = server_start(&view);
        int socks[2];
        char byte;
        pid_t pid;

        cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
        pid = fork();
        if (pid == 0) {
            be_sleepers(&view, socks[1]);
        }
        cr_assert_gt(pid, 0);
        close(socks[1]);
        cr_assert_eq(read(socks[0], &byte, 1), 1);
        if (killed) {
            cr_assert_eq(kill(server.pid, SIGKILL), 0);
        } else {
            cr_assert_eq(write(server.sock, "e", 1), 1);
        }
        cr_expect_eq(test_wait(pid), 0);
        if (!killed) {
            cr_assert_eq(write(server.sock, "x", 1), 1);
        }
        cr_expect_eq(test_wait(server.pid), killed ? 128 + SIGKILL : 0);
        close(server.sock);
        close(socks[0]);
        sx_board_deinit(&view);
    }
}

Test(board, sleepers_receive_that_the_server_was_killed_waitv, .timeout = 120)
{
    sleepers_receive_of(true, true);
}

Test(board, sleepers_receive_that_the_server_was_killed_bitset, .timeout = 120)
{
    sleepers_receive_of(true, false);
}

Test(board, sleepers_receive_of_the_orderly_end, .timeout = 120)
{
    sleepers_receive_of(false, true);
}
