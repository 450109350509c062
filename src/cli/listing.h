/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* listing.h - a list of things, from one table: columns of text, or one JSON object a line. */
#ifndef SX_CLI_LISTING_H
#define SX_CLI_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sx_listing_column {
    const char *heading; /* of the text; NULL: it is in JSON only */
    int width;           /* negative: to the left; 0: as it comes, for the last one */
    const char *field;   /* in JSON; NULL: it is in the text only */
};

struct sx_listing {
    const struct sx_listing_column *columns;
    size_t column_count;
    bool json;
    uint64_t count; /* printed so far; the headings come before the first */
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

/* In JSON the number, in the text what is said of it. */
static inline struct sx_listing_cell sx_listing_shown(int64_t number, const char *text)
{
    return (struct sx_listing_cell){ .kind = SX_LISTING_NUMBER, .number = number, .text = text };
}

/* NULL is none. */
static inline struct sx_listing_cell sx_listing_text(const char *text)
{
    return (struct sx_listing_cell){ .kind = text != NULL ? SX_LISTING_TEXT : SX_LISTING_NONE,
                                     .text = text };
}

/* Print a cell for each column.  What there is none of is "-" as text, and no field in JSON. */
void sx_listing_print(struct sx_listing *listing, const struct sx_listing_cell *cells);

#endif
