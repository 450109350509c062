/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* probe_cache_test.c - what another launcher knows of the devices is taken if it can be. */
#include "launch/place/device_probe.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "base/system/topology.h"
#include "base/util.h"
#include "launch/common/say.h"
#include "shmem/store.h"

#define DIRECTORY_NAME "known"
#include "../../cli/directory.h"

#define SIGN "20000.0123456789abcdef"

static char *machine;                 /* a text that hwloc takes */
static struct sx_store_writer writer; /* as if this process were a launcher */

static void text_put(const char *key, const char *text)
{
    const pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text };

    if (text != NULL) {
        cr_assert_eq(sx_store_put(&writer, SX_REALM_JOB, SX_ROW_JOB, key, PMIX_GLOBAL, &value),
                     PMIX_SUCCESS);
    }
}

/* The directory of launcher @pid is there. */
static void launcher_begin(pid_t pid)
{
    char name[64];

    snprintf(name, sizeof(name), "shmix-%u-%ld-abcdef", (unsigned)geteuid(), (long)pid);
    cr_assert_eq(mkdirat(dir_fd, name, 0700), 0);
}

static void begin(void)
{
    hwloc_topology_t topology;

    directory_make();
    cr_assert_eq(hwloc_topology_init(&topology), 0);
    cr_assert_eq(hwloc_topology_set_synthetic(topology, "package:3 core:2 pu:1"), 0);
    cr_assert_eq(hwloc_topology_load(topology), 0);
    cr_assert_eq(sx_topology_write(topology, &machine), PMIX_SUCCESS);
    hwloc_topology_destroy(topology);
}

static void end(void)
{
    free(machine);
    directory_remove();
}

TestSuite(run_known, .init = begin, .fini = end, .timeout = 60);

static const struct {
    const char *why, *sign;
    bool has_text;
    const char *text; /* another one */
    bool is_found;
} rows[] = {
    { "the text", SIGN, true, NULL, true },
    { "of another machine", SIGN "0", true, NULL, false },
    { "of a shorter sign", "20000", true, NULL, false },
    { "without a sign", NULL, true, NULL, false },
    { "without a text", SIGN, false, NULL, false },
    { "garbage", SIGN, false, "no machine", false },
    { "an empty text", SIGN, false, "", false },
    { "half a text", SIGN, false, "<?xml version=\"1.0\"?><topology version=\"2.0\"><object",
      false },
};

Test(run_known, text_is_taken_if_it_belongs_to_the_same_and_can_be_read)
{
    struct sx_session session = { .parent = dir, .name = (char *)(uintptr_t) "mine" };

    launcher_begin(getpid());
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_store_options options = { .nspace = "job" };
        pid_t launcher = 0;

        cr_assert_eq(sx_store_create(&writer, &options), PMIX_SUCCESS);
        text_put(SX_NSPACE_MACHINE, rows[i].sign);
        text_put(sx_topology_keys[0], rows[i].has_text ? machine : rows[i].text);
        char *const xml = sx_run_known_find(&session, SIGN, &launcher);

        cr_expect_eq(xml != NULL, rows[i].is_found, "%s", rows[i].why);
        cr_expect_eq(launcher, rows[i].is_found ? getpid() : 0, "%s", rows[i].why);
        cr_expect(xml == NULL || strcmp(xml, machine) == 0, "%s", rows[i].why);
        free(xml);
        sx_store_destroy(&writer);
    }
}

/* A process of another user's has the text, and a directory that looks as if it were ours. */
Test(run_known, text_of_another_user_is_left_alone)
{
    struct sx_session session = { .parent = dir, .name = (char *)(uintptr_t) "mine" };
    const struct sx_store_options options = { .nspace = "job" };
    pid_t launcher = 0;
    int ready[2];
    char byte;

    if (geteuid() != 0) {
        cr_skip("only root can be two users");
    }
    cr_assert_eq(pipe(ready), 0);
    const pid_t other = fork();

    if (other == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0) {
            _exit(1);
        }
        cr_assert_eq(sx_store_create(&writer, &options), PMIX_SUCCESS);
        text_put(SX_NSPACE_MACHINE, SIGN);
        text_put(sx_topology_keys[0], machine);
        cr_assert_eq(write(ready[1], "", 1), 1);
        pause();
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    launcher_begin(other);
    cr_expect_null(sx_run_known_find(&session, SIGN, &launcher));
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

/* Those that have ended, or that have nothing. */
Test(run_known, text_is_nobodys_who_is_no_launcher)
{
    struct sx_session session = { .parent = dir, .name = (char *)(uintptr_t) "mine" };
    const struct sx_store_options options = { .nspace = "job" };
    pid_t launcher = 0;
    const pid_t ended = fork();

    if (ended == 0) {
        _exit(0);
    }
    cr_assert_eq(waitpid(ended, NULL, 0), ended);
    launcher_begin(ended);
    launcher_begin(1);
    cr_assert_eq(sx_store_create(&writer, &options), PMIX_SUCCESS);
    text_put(SX_NSPACE_MACHINE, SIGN);
    text_put(sx_topology_keys[0], machine);
    cr_expect_null(sx_run_known_find(&session, SIGN, &launcher));

    /* A process that has only inherited the memory has not made it. */
    const pid_t heir = fork();

    if (heir == 0) {
        pause();
    }
    launcher_begin(heir);
    cr_expect_null(sx_run_known_find(&session, SIGN, &launcher));
    kill(heir, SIGKILL);
    waitpid(heir, NULL, 0);

    launcher_begin(getpid());
    session.name = sx_cli_printf("shmix-%u-%ld-abcdef", (unsigned)geteuid(), (long)getpid());
    cr_expect_null(sx_run_known_find(&session, SIGN, &launcher), "its own directory");
    free(session.name);
    session.parent = (char *)(uintptr_t) "/no/such/place";
    session.name = (char *)(uintptr_t) "mine";
    cr_expect_null(sx_run_known_find(&session, SIGN, &launcher));
    sx_store_destroy(&writer);
}

Test(run_known, sign_is_the_same_as_long_as_the_machine_is)
{
    unsetenv("HWLOC_PLUGINS_BLACKLIST");
    char *const one = sx_run_known_sign(), *const two = sx_run_known_sign();

    cr_assert_not_null(one);
    cr_assert_not_null(two);
    cr_expect_str_eq(one, two);
    cr_expect_eq(strcspn(one, " \n"), strlen(one));
    setenv("HWLOC_XMLFILE", "/some/file", 1);
    cr_expect_null(sx_run_known_sign());
    free(one);
    free(two);
}

/* A launcher that may use other CPUs would see another machine. */
Test(run_known, sign_is_another_one_on_other_cpus)
{
    cpu_set_t all, one;

    unsetenv("HWLOC_PLUGINS_BLACKLIST");
    cr_assert_eq(sched_getaffinity(0, sizeof(all), &all), 0);
    if (CPU_COUNT(&all) < 2) {
        cr_skip("there is one CPU alone");
    }
    char *const before = sx_run_known_sign();

    CPU_ZERO(&one);
    for (size_t cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &one);
        }
    }
    cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
    char *const after = sx_run_known_sign();

    cr_assert_not_null(before);
    cr_assert_not_null(after);
    cr_expect_str_neq(before, after);
    free(before);
    free(after);
}
