/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lifecycle_test.c - who is told of what, in which order. */
#include <string.h>

#include "../bare.h"

/* Return: which row has this name; fails when none or two have. */
static size_t row_of(const char *name)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; sx_families[i].name != NULL; i++) {
        if (strcmp(sx_families[i].name, name) == 0) {
            cr_expect_eq(found, SIZE_MAX, "%s is there twice", name);
            found = i;
        }
    }
    cr_assert_neq(found, SIZE_MAX, "%s", name);
    return found;
}

Test(families, each_has_one_name)
{
    for (const struct sx_family *family = sx_families; family->name != NULL; family++) {
        cr_expect_eq(&sx_families[row_of(family->name)], family);
    }
}

/* What a death ends is answered before others hear of the death. */
Test(families, collectives_and_gets_end_before_the_events_and_the_host_receives_last)
{
    const size_t event = row_of("event"), host = row_of("host");

    cr_expect_lt(row_of("collective"), event);
    cr_expect_lt(row_of("dmodex"), event);
    cr_expect_lt(row_of("gets"), event);
    cr_expect_not_null(sx_families[event].client_lost);
    cr_expect_not_null(sx_families[host].client_left);
    cr_expect_null(sx_families[host + 1].name);
}

/* Who waits for a namespace, or for one of its clients, has to be answered when it goes. */
Test(families, whoever_keeps_waiters_receives_of_their_end)
{
    static const char *const keepers[] = { "collective", "gets" };

    for (size_t i = 0; i < SX_COUNT(keepers); i++) {
        cr_expect_not_null(sx_families[row_of(keepers[i])].nspace_gone, "%s", keepers[i]);
        cr_expect_not_null(sx_families[row_of(keepers[i])].client_gone, "%s", keepers[i]);
    }
    cr_expect_not_null(sx_families[row_of("dmodex")].client_gone);
    cr_expect_not_null(sx_families[row_of("event handled")].nspace_gone);
}

static char notified[8];

static void a(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    (void)client;
    strcat(notified, "a");
}

static void b(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    (void)client;
    strcat(notified, "b");
}

Test(families, are_notified_in_the_order_of_their_rows)
{
    static const struct sx_family rows[] = { { .name = "b", .client_left = b },
                                             { .name = "none" },
                                             { .name = "a", .client_left = a, .client_gone = a },
                                             { .name = NULL, .client_left = b } };
    struct sx_server server = { .families = rows };

    SX_FAMILIES_NOTIFY(&server, client_left, &server, NULL);
    cr_expect_str_eq(notified, "ba");
}
