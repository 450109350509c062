/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* groups_print.c - text has the first members only, JSON all of them. */
#include "cli/ls/groups_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "cli/names.h"
#include "launch/common/say.h"

#define MEMBERS_SHOWN 16u /* in a line of text */

static const char *kind_name(const struct sx_membership *list)
{
    static const char *const names[] = { "unknown", "connected", "group", "set" };
    const uint32_t kind = list->head.kind;

    return names[kind < SX_COUNT(names) ? kind : 0];
}

static uint64_t age_ns(const struct sx_groups_line *line)
{
    const uint64_t since_ns = line->list->head.since_ns;

    return line->now_ns > since_ns ? line->now_ns - since_ns : 0;
}

static bool has_context_id(const struct sx_membership *list)
{
    return (list->head.flags & SX_MEMBERSHIP_CONTEXT) != 0;
}

/* Whether @rank was a member before, and is not any more. */
static bool has_left(const struct sx_groups_line *line, uint32_t rank, pmix_proc_t *ret_proc)
{
    pmix_proc_t other;

    return sx_membership_member(line->before, rank, ret_proc) == PMIX_SUCCESS &&
           sx_membership_member(line->list, rank, &other) != PMIX_SUCCESS;
}

/* ---- as text --------------------------------------------------------------------------------- */

void sx_groups_heading_print(bool with_changes)
{
    printf("%s%-10s %-11s %10s %11s %12s %8s  %s\n", with_changes ? "CHANGE   " : "", "KIND",
           "MEMBERS", "GENERATION", "CONTEXT ID", "FOR", "SERVER", "NAME: PROCESSES");
}

static void member_print(const pmix_proc_t *proc)
{
    putchar(' ');
    sx_names_proc_print(proc->nspace, strlen(proc->nspace), proc->rank, false);
}

static void members_print(const struct sx_membership *list)
{
    uint32_t shown = 0;
    pmix_proc_t proc;

    for (uint32_t rank = 0; rank < sx_membership_size(list) && shown < MEMBERS_SHOWN; rank++) {
        if (sx_membership_member(list, rank, &proc) == PMIX_SUCCESS) {
            member_print(&proc);
            shown++;
        }
    }
    if (list->head.index_count > shown) {
        printf(" and %" PRIu32 " more", list->head.index_count - shown);
    }
}

static void left_print(const struct sx_groups_line *line)
{
    uint32_t count = 0;
    pmix_proc_t proc;

    for (uint32_t rank = 0; rank < sx_membership_size(line->before); rank++) {
        if (has_left(line, rank, &proc) && count++ < MEMBERS_SHOWN) {
            printf("%s", count == 1 ? "; left:" : "");
            member_print(&proc);
        }
    }
    if (count > MEMBERS_SHOWN) {
        printf(" and %" PRIu32 " more", count - MEMBERS_SHOWN);
    }
}

static void print_text(const struct sx_groups_line *line)
{
    const struct sx_membership *const list = line->list;
    const char *const name = sx_membership_name(list);

    if (line->change != NULL) {
        printf("%-8s ", line->change);
    }
    printf("%-10s %4" PRIu32 " of %-4" PRIu32 "%10" PRIu64, kind_name(list), list->head.index_count,
           sx_membership_size(list), list->head.generation);
    if (has_context_id(list)) {
        printf(" %11" PRIu64, list->head.context_id);
    } else {
        printf(" %11s", "none");
    }
    printf(" %10.1f s %8d  ", (double)age_ns(line) / (double)SX_NS_PER_SEC, (int)line->server);
    sx_names_text_print(name, strlen(name));
    putchar(':');
    members_print(list);
    if (line->before != NULL) {
        left_print(line);
    }
    putchar('\n');
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void member_print_json(uint32_t rank, const pmix_proc_t *proc, bool is_first)
{
    printf("%s{\"rank\":%" PRIu32 ",\"proc\":", is_first ? "" : ",", rank);
    sx_names_proc_print(proc->nspace, strlen(proc->nspace), proc->rank, true);
    putchar('}');
}

static void members_print_json(const struct sx_membership *list)
{
    pmix_proc_t proc;

    for (uint32_t rank = 0, shown = 0; rank < sx_membership_size(list); rank++) {
        if (sx_membership_member(list, rank, &proc) == PMIX_SUCCESS) {
            member_print_json(rank, &proc, shown++ == 0);
        }
    }
}

static void left_print_json(const struct sx_groups_line *line)
{
    pmix_proc_t proc;

    printf(",\"left\":[");
    for (uint32_t rank = 0, shown = 0; rank < sx_membership_size(line->before); rank++) {
        if (has_left(line, rank, &proc)) {
            member_print_json(rank, &proc, shown++ == 0);
        }
    }
    putchar(']');
}

static void print_json(const struct sx_groups_line *line)
{
    const struct sx_membership *const list = line->list;
    const char *const name = sx_membership_name(list);

    putchar('{');
    if (line->change != NULL) {
        printf("\"change\":\"%s\",", line->change);
    }
    printf("\"kind\":\"%s\",\"name\":", kind_name(list));
    sx_json_string(name, strlen(name));
    printf(",\"server\":%d,\"generation\":%" PRIu64, (int)line->server, list->head.generation);
    if (has_context_id(list)) {
        printf(",\"context_id\":%" PRIu64, list->head.context_id);
    }
    printf(",\"age_ns\":%" PRIu64 ",\"size\":%" PRIu32 ",\"member_count\":%" PRIu32
           ",\"members\":[",
           age_ns(line), sx_membership_size(list), list->head.index_count);
    members_print_json(list);
    putchar(']');
    if (line->before != NULL) {
        left_print_json(line);
    }
    printf("}\n");
}

void sx_groups_line_print(const struct sx_groups_line *line, bool json)
{
    (json ? print_json : print_text)(line);
}
