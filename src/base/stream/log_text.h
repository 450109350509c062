/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log_text.h - a text that a process logs, in its written form: line by line, each with its mark.
 *
 * It is made a piece at a time, where it is written.  So a text costs no more memory than it had,
 * however many lines it has and however long their mark is. */
#ifndef SX_BASE_STREAM_LOG_TEXT_H
#define SX_BASE_STREAM_LOG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include <pmix_common.h>

/* ---- marks ----------------------------------------------------------------------------------- */

/* The marks that are requested before each line of a process's output. */

struct sx_marks {
    bool tag;      /* [namespace,rank]<stream>: */
    bool detailed; /* the same, with [host:pid] behind the first part */
    bool rank;     /* the rank alone, instead of a tag */
    bool stamp;    /* the time, before it */
    bool xml;      /* each line is an element, of which the others are attributes */
};

static inline bool sx_marks_any(const struct sx_marks *marks)
{
    return marks->tag || marks->detailed || marks->rank || marks->stamp || marks->xml;
}

/* ---- texts ----------------------------------------------------------------------------------- */

#define SX_LOG_MARK_MAX 2560u /* a namespace of 255 characters in XML */
#define SX_LOG_LINE_MAX 4096u /* a longer line is written as several */
#define SX_LOG_PIECE_MAX (SX_LOG_MARK_MAX + 6 * SX_LOG_LINE_MAX + 64u)

enum sx_log_form {
    SX_LOG_AS_LINES,  /* the mark, the line */
    SX_LOG_AS_XML,    /* <stdout nspace="..." rank="0">the line</stdout> */
    SX_LOG_AS_SYSLOG, /* <11>Nov 23 10:00:00 shmix[nspace.rank]: the line, without its end */
};

struct sx_log_text {
    const char *at, *end; /* what is left */
    enum sx_log_form form;
    bool in_line;       /* of a line that is written as several */
    bool open;          /* its last line goes on in another text */
    const char *stream; /* of XML */
    char mark[SX_LOG_MARK_MAX];
};

/* How a text is marked. */
struct sx_log_style {
    struct sx_marks marks;
    const pmix_proc_t *source;
    const char *host; /* of a detailed mark; NULL: it is not known, as a process of 0 is not */
    pid_t pid;
    time_t when;
};

/* For stdout or stderr (@stream); @text and @bytes are borrowed. */
void sx_log_text_bytes(struct sx_log_text *ret, const char *bytes, size_t size, const char *stream,
                       const struct sx_log_style *style);
void sx_log_text_stream(struct sx_log_text *ret, const char *text, const char *stream,
                        const struct sx_log_style *style);
/* For the system log, with @priority from 0 to 7. */
void sx_log_text_syslog(struct sx_log_text *ret, const char *text, unsigned priority,
                        const struct sx_log_style *style);

/* Write the next piece, which is a line or a part of one.  A line without an end gets one, unless
 * the text is open.  Return: its size; 0: there is none. */
size_t sx_log_text_next(struct sx_log_text *text, char piece[SX_LOG_PIECE_MAX]);

/* "2026-11-23T10:00:00+0100" */
void sx_log_time(time_t when, char *ret, size_t size);

#endif
