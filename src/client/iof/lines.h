/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lines.h - output of other processes, line by line, each with its mark.
 *
 * An unfinished line waits for its end, the end of its stream, or SX_LOG_LINE_MAX bytes.  One
 * thread uses these lines. */
#ifndef SX_CLIENT_IOF_LINES_H
#define SX_CLIENT_IOF_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/stream/log_text.h"
#include "control/message.h"

#define SX_LINES_TEXT_MAX 32768u

struct sx_lines {
    struct sx_marks marks;
    struct sx_list streams; /* streams with an unfinished line */
    /* Lines of the process and channel that @piece names.  Return: false when no more is wanted. */
    bool (*emit)(void *arg, const struct sx_iof_piece *piece, const char *text, size_t size);
    void *arg;
    size_t text_size;
    char text[SX_LINES_TEXT_MAX + SX_LOG_PIECE_MAX];
};

/* Add @size bytes, or the end of a stream.  Return: as emit. */
bool sx_lines_feed(struct sx_lines *lines, const struct sx_iof_piece *piece, const char *bytes,
                   size_t size);
/* No more output arrives: hand on unfinished lines if @wanted, and free all. */
void sx_lines_end(struct sx_lines *lines, bool wanted);

#endif
