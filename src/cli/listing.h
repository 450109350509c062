/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* listing.h - a list of things, from one table: columns of text, or one JSON object on each
 * line. */
#ifndef SX_CLI_LISTING_H
#define SX_CLI_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sx_listing_column {
    const char *heading; /* of the text; NULL: the column is in JSON only */
    int width;           /* negative: to the left; 0: unpadded, for the last column */
    const char *field;   /* in JSON; NULL: the column is in the text only */
};

struct sx_listing {
    const struct sx_listing_column *columns;
    size_t column_count;
    bool json;
    uint64_t count; /* printed so far; the headings precede the first */
};

enum sx_listing_kind { SX_LISTING_NONE, SX_LISTING_NUMBER, SX_LISTING_TEXT };

struct sx_listing_cell {
    enum sx_listing_kind kind;
    int64_t number;
    const char *text;
};

static inline struct sx_listing_cell sx_listing_number(int64_t number)
{
    return (struct sx_listing_cell){ .kind = SX_LISTING_NUMBER, .number = number };
}

/* A number in JSON, and its own text in the text. */
static inline struct sx_listing_cell sx_listing_shown(int64_t number, const char *text)
{
    return (struct sx_listing_cell){ .kind = SX_LISTING_NUMBER, .number = number, .text = text };
}

/* NULL: no value. */
static inline struct sx_listing_cell sx_listing_text(const char *text)
{
    return (struct sx_listing_cell){ .kind = text != NULL ? SX_LISTING_TEXT : SX_LISTING_NONE,
                                     .text = text };
}

/* Print a cell for each column.  An empty cell is "-" as text, and no field in JSON. */
void sx_listing_print(struct sx_listing *listing, const struct sx_listing_cell *cells);

#endif
