/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodes_test.c - which words are this node, how many slots they say, and what is said of others. */
#include "launch/ask/sources.h"

#define DIRECTORY_NAME "nodes"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/directory.h"
#include "base/util.h"

#define OWN "box.cluster.example"

static const struct {
    const char *word;
    bool here;
    const char *slots;
} words[] = {
    { "localhost", true, NULL },
    { "LocalHost:3", true, "3" },
    { "localhost.localdomain", true, NULL },
    { "localhost6:1", true, "1" },
    { "box", true, NULL },
    { "box.cluster:2", true, "2" },
    { OWN, true, NULL },
    { "BOX.Cluster.Example:*", true, "*" },
    { "bo", false, NULL },
    { "box.cluste", false, NULL },
    { "box.", false, NULL },
    { OWN ".org", false, NULL },
    { "box2", false, NULL },
    { "127.0.0.1", true, NULL },
    { "127.0.0.1:2", true, "2" },
    { "127.1.2.3:2", true, "2" },
    { "127.0.0.1:abc", true, "abc" },
    { "127.nonsense", false, NULL },
    { "127.0.0.1.example", false, NULL },
    { "127.0.0", false, NULL },
    { "::1", true, NULL },
    { "::1:2", true, "2" },
    { "[::1]", true, NULL },
    { "[::1]:2", true, "2" },
    { "[::1]2", false, NULL },
    { "[::1", false, NULL },
    { "[127.0.0.1]:4", true, "4" },
    { "192.0.2.7", false, NULL },
    { "2001:db8::7", false, NULL },
    { "[2001:db8::7]:2", false, NULL },
    { "elsewhere:2", false, NULL },
    { "", false, NULL },
    { ":2", false, NULL },
    { "[]", false, NULL },
};

Test(run_nodes, words_are_this_node_or_another)
{
    for (size_t i = 0; i < SX_COUNT(words); i++) {
        char word[64];
        const char *slots = NULL;

        snprintf(word, sizeof(word), "%s", words[i].word);
        cr_expect_eq(sx_run_nodes_word(word, OWN, &slots), words[i].here, "'%s'", words[i].word);
        if (words[i].here) {
            cr_expect((slots == NULL) == (words[i].slots == NULL) &&
                          (slots == NULL || strcmp(slots, words[i].slots) == 0),
                      "'%s': %s", words[i].word, slots == NULL ? "no slots" : slots);
        } else {
            cr_expect_str_eq(word, words[i].word, "it is as it was, for a message");
        }
    }
}

/* An address of fe80::/10 has its interface behind it. */
Test(run_nodes, every_address_of_the_machine_is_this_node)
{
    struct ifaddrs *all;

    cr_assert_eq(getifaddrs(&all), 0);
    for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next) {
        const int family = at->ifa_addr == NULL ? AF_UNSPEC : at->ifa_addr->sa_family;
        const socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in)
                                                 : sizeof(struct sockaddr_in6);
        char address[NI_MAXHOST], word[NI_MAXHOST + 8];
        const char *slots = NULL;

        if ((family != AF_INET && family != AF_INET6) ||
            getnameinfo(at->ifa_addr, size, address, sizeof(address), NULL, 0, NI_NUMERICHOST) !=
                0) {
            continue;
        }
        cr_expect(sx_run_nodes_is_this(address, OWN), "%s", address);
        snprintf(word, sizeof(word), family == AF_INET ? "%s:7" : "[%s]:7", address);
        cr_expect(sx_run_nodes_word(word, OWN, &slots) && slots != NULL && strcmp(slots, "7") == 0,
                  "%s", address);
    }
    freeifaddrs(all);
}

static const char *write_file(const char *name, const char *text)
{
    static char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "we");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

Test(run_nodes, the_systems_files_name_this_node, .init = directory_make, .fini = directory_remove)
{
    const char *path = write_file("hosts", "192.0.2.7 other other.example\n"
                                           "127.0.1.1\tbox.example.org box # 127.0.0.1 not.this\n"
                                           "\n#\n::1 six");

    cr_expect(sx_run_nodes_in_hosts(path, "box.example.org"));
    cr_expect(sx_run_nodes_in_hosts(path, "BOX"));
    cr_expect(sx_run_nodes_in_hosts(path, "six"));
    cr_expect_not(sx_run_nodes_in_hosts(path, "other"), "another machine's address");
    cr_expect_not(sx_run_nodes_in_hosts(path, "not.this"));
    cr_expect_not(sx_run_nodes_in_hosts(path, "127.0.1.1"));
    cr_expect_not(sx_run_nodes_in_hosts("/nonexistent", "box"));

    path = write_file("resolv.conf", "nameserver 192.0.2.1\nsearch a.example b.example\n");
    cr_expect(sx_run_nodes_in_domain(path, "box.b.example", "box"));
    cr_expect_not(sx_run_nodes_in_domain(path, "box.c.example", "box"));
    cr_expect_not(sx_run_nodes_in_domain(path, "boxa.example", "box"));
    cr_expect_not(sx_run_nodes_in_domain(path, "other.a.example", "box"));
}

static const struct {
    const char *text;
    uint32_t slots; /* 0: refused */
    const char *says;
} files[] = {
    { "localhost\nlocalhost", 2, NULL },
    { "# ours\n\nlocalhost slots=2 # two\n127.0.0.1 max_slots=4\n", 3, NULL },
    { "localhost\tslots = 2", 2, NULL },
    { "localhost  slots= 2 max-slots =4\r\n", 2, NULL },
    { "[::1]:3\n127.0.0.1:2\n", 5, NULL },
    { "localhost\n\nelsewhere slots=2\n", 0, "line 3: 'elsewhere' is not this node, '" },
    { "localhost slot=2\n", 0, "line 1: 'slot=2' is not slots=N or max_slots=N" },
    { "localhost slots=\n", 0, "line 1: '' is not a number of slots from 1 to 8" },
    { "#\nlocalhost slots=none\n", 0, "line 2: 'none' is not a number of slots from 1 to 8" },
    { "localhost:5\nlocalhost:4\n", 0, "line 2: there are more than 8 slots" },
    { "# nobody\n", 0, "it names no node" },
};

Test(run_nodes, lines_of_a_file, .init = directory_make, .fini = directory_remove)
{
    for (size_t i = 0; i < SX_COUNT(files); i++) {
        char message[SX_RUN_MESSAGE_MAX] = "";
        uint32_t slots = 0;
        const bool good = sx_run_nodes_file(&slots, write_file("nodes", files[i].text), 8,
                                            message) == SX_RUN_NODES_HERE;

        cr_expect_eq(good, files[i].slots > 0, "row %zu: %s", i, message);
        cr_expect(!good || slots == files[i].slots, "row %zu: %u", i, slots);
        cr_expect(files[i].says == NULL ||
                      strncmp(message, files[i].says, strlen(files[i].says)) == 0,
                  "row %zu: '%s'", i, message);
    }
}
