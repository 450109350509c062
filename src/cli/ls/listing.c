/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* listing.c - texts come from other processes: they are escaped, and padded by their printed
 * width. */
#include "cli/ls/ls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/value.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"

static int width_of(const struct sx_listing_cell *cell)
{
    int width = 0;

    switch (cell->kind) {
    case SX_LISTING_NUMBER:
        return cell->text != NULL ? (int)strlen(cell->text)
                                  : snprintf(NULL, 0, "%" PRId64, cell->number);
    case SX_LISTING_TEXT:
        for (const char *at = cell->text; *at != '\0'; at++) {
            width += *at >= 0x20 && *at < 0x7f && *at != '\\' ? 1
                                                              : 4; /* as names.h escapes the byte */
        }
        return width;
    default:
        return 1;
    }
}

static void cell_print(const struct sx_listing_cell *cell)
{
    if (cell->kind == SX_LISTING_NUMBER) {
        printf("%" PRId64, cell->number);
    } else if (cell->kind == SX_LISTING_TEXT) {
        sx_names_text_print(cell->text, strlen(cell->text));
    } else {
        putchar('-');
    }
}

static void pad(int count)
{
    printf("%*s", count > 0 ? count : 0, "");
}

/* A row of text; @cells NULL: the headings. */
static void text_print(const struct sx_listing *listing, const struct sx_listing_cell *cells)
{
    bool first = true;

    for (size_t i = 0; i < listing->column_count; i++) {
        const struct sx_listing_column *const column = &listing->columns[i];

        if (column->heading == NULL) {
            continue;
        }
        const struct sx_listing_cell cell = cells != NULL ? cells[i]
                                                          : sx_listing_text(column->heading);
        const int blanks = abs(column->width) - width_of(&cell);

        printf(first ? "" : " ");
        pad(column->width > 0 ? blanks : 0);
        if (cell.kind == SX_LISTING_NUMBER && cell.text != NULL) {
            fputs(cell.text, stdout);
        } else {
            cell_print(&cell);
        }
        pad(column->width < 0 ? blanks : 0);
        first = false;
    }
    putchar('\n');
}

static void json_print(const struct sx_listing *listing, const struct sx_listing_cell *cells)
{
    const char *before = "{";

    for (size_t i = 0; i < listing->column_count; i++) {
        if (cells[i].kind == SX_LISTING_NONE || listing->columns[i].field == NULL) {
            continue;
        }
        printf("%s\"%s\":", before, listing->columns[i].field);
        if (cells[i].kind == SX_LISTING_TEXT) {
            sx_json_string(cells[i].text, strlen(cells[i].text));
        } else {
            cell_print(&cells[i]);
        }
        before = ",";
    }
    printf("}\n");
}

void sx_listing_print(struct sx_listing *listing, const struct sx_listing_cell *cells)
{
    if (listing->json) {
        json_print(listing, cells);
    } else {
        if (listing->count == 0) {
            text_print(listing, NULL);
        }
        text_print(listing, cells);
    }
    listing->count++;
}

/* Having no server is not an error, but naming one that does not exist is. */
int sx_ls_nobody(const struct sx_ls_wish *wish, bool denied)
{
    const pid_t pid = wish->server;

    if (wish->again && pid != 0) {
        return SX_EXIT_FAILURE; /* the server has ended: no message */
    }
    if (sx_cli_outside_say(pid)) {
        return pid != 0 ? SX_EXIT_FAILURE : 0; /* the server runs, and cannot be read */
    }
    if (pid == 0) {
        sx_say("%s", denied ? "you have no running job on this node (root sees all users' jobs)"
                            : "no job runs on this node");
        return 0;
    }
    sx_whose_say_none(pid, denied);
    return SX_EXIT_FAILURE;
}
