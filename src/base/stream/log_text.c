/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log_text.c - marks, and the next piece. */
#include "base/stream/log_text.h"

#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "base/util.h"

#define HOST_MAX 64u               /* of a name, more is cut off */
#define PLACE_MAX (HOST_MAX + 16u) /* "host:pid" */

void sx_log_time(time_t when, char *ret, size_t size)
{
    struct tm tm;

    if (localtime_r(&when, &tm) == NULL || strftime(ret, size, "%Y-%m-%dT%H:%M:%S%z", &tm) == 0) {
        snprintf(ret, size, "%lld", (long long)when);
    }
}

/* The months of syslog are English whatever the program's locale is. */
static void syslog_time(time_t when, char *ret, size_t size)
{
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    struct tm tm = { .tm_mday = 1 };

    localtime_r(&when, &tm);
    snprintf(ret, size, "%s %2d %02d:%02d:%02d", months[tm.tm_mon % 12], tm.tm_mday, tm.tm_hour,
             tm.tm_min, tm.tm_sec);
}

/* ---- XML ----------------------------------------------------------------------------------- */

/* At most 6 bytes for each.  A control character has no place in XML, escaped or not. */
static size_t escape(char *to, const char *from, size_t len)
{
    char *const begin = to;

    for (size_t i = 0; i < len; i++) {
        const char *const word = from[i] == '<'   ? "&lt;"
                                 : from[i] == '>' ? "&gt;"
                                 : from[i] == '&' ? "&amp;"
                                 : from[i] == '"' ? "&quot;"
                                                  : NULL;

        if (word != NULL) {
            to = stpcpy(to, word);
        } else {
            *to++ = (unsigned char)from[i] < 0x20 && from[i] != '\t' ? '?' : from[i];
        }
    }
    *to = '\0';
    return (size_t)(to - begin);
}

/* "host:pid" */
static void place_write(char place[PLACE_MAX], const struct sx_log_style *style)
{
    const int used = snprintf(place, PLACE_MAX, "%.*s:", (int)HOST_MAX,
                              style->host == NULL ? "?" : style->host);

    if (style->pid > 0) {
        snprintf(place + used, PLACE_MAX - (size_t)used, "%d", (int)style->pid);
    } else {
        snprintf(place + used, PLACE_MAX - (size_t)used, "?");
    }
}

static void mark_xml(struct sx_log_text *text, const struct sx_log_style *style, const char *time)
{
    const struct sx_marks *const marks = &style->marks;
    char nspace[6 * PMIX_MAX_NSLEN + 1], place[PLACE_MAX], escaped[6 * PLACE_MAX];

    escape(nspace, style->source->nspace, strnlen(style->source->nspace, PMIX_MAX_NSLEN));
    place_write(place, style);
    escape(escaped, place, strlen(place));
    snprintf(text->mark, sizeof(text->mark), "<%s nspace=\"%s\" rank=\"%u\"%s%s%s%s%s%s>",
             text->stream, nspace, style->source->rank, marks->detailed ? " process=\"" : "",
             marks->detailed ? escaped : "", marks->detailed ? "\"" : "",
             marks->stamp ? " time=\"" : "", marks->stamp ? time : "", marks->stamp ? "\"" : "");
}

static void mark_line(struct sx_log_text *text, const struct sx_log_style *style, const char *time)
{
    const struct sx_marks *const marks = &style->marks;
    const int used = marks->stamp ? snprintf(text->mark, sizeof(text->mark), "%s ", time) : 0;
    char *const at = text->mark + used;
    const size_t room = sizeof(text->mark) - (size_t)used;
    char place[PLACE_MAX];

    if (marks->detailed) {
        place_write(place, style);
        snprintf(at, room, "[%.255s,%u][%s]<%s>: ", style->source->nspace, style->source->rank,
                 place, text->stream);
    } else if (marks->tag) {
        snprintf(at, room, "[%.255s,%u]<%s>: ", style->source->nspace, style->source->rank,
                 text->stream);
    } else if (marks->rank) {
        snprintf(at, room, "[%u]<%s>: ", style->source->rank, text->stream);
    }
}

/* ---- texts --------------------------------------------------------------------------------- */

void sx_log_text_bytes(struct sx_log_text *ret, const char *bytes, size_t size, const char *stream,
                       const struct sx_log_style *style)
{
    char time[64];

    *ret = (struct sx_log_text){ .at = bytes,
                                 .end = bytes + size,
                                 .form = style->marks.xml ? SX_LOG_AS_XML : SX_LOG_AS_LINES,
                                 .stream = stream };
    sx_log_time(style->when, time, sizeof(time));
    if (style->marks.xml) {
        mark_xml(ret, style, time);
    } else {
        mark_line(ret, style, time);
    }
}

void sx_log_text_stream(struct sx_log_text *ret, const char *text, const char *stream,
                        const struct sx_log_style *style)
{
    sx_log_text_bytes(ret, text, strlen(text), stream, style);
}

void sx_log_text_syslog(struct sx_log_text *ret, const char *text, unsigned priority,
                        const struct sx_log_style *style)
{
    char time[64];

    *ret = (struct sx_log_text){ .at = text, .end = text + strlen(text), .form = SX_LOG_AS_SYSLOG };
    syslog_time(style->when, time, sizeof(time));
    snprintf(ret->mark, sizeof(ret->mark), "<%u>%s shmix[%.255s.%u]: ", LOG_USER | priority, time,
             style->source->nspace, style->source->rank);
}

/* ---- pieces -------------------------------------------------------------------------------- */

static size_t piece_write(struct sx_log_text *text, char *piece, size_t len)
{
    char *to = piece;

    if (text->form != SX_LOG_AS_LINES || !text->in_line) {
        to = stpcpy(to, text->mark);
    }
    if (text->form == SX_LOG_AS_XML) {
        to += escape(to, text->at, len);
        to += sprintf(to, "</%s>\n", text->stream);
    } else {
        memcpy(to, text->at, len);
        to += len;
    }
    return (size_t)(to - piece);
}

size_t sx_log_text_next(struct sx_log_text *text, char piece[SX_LOG_PIECE_MAX])
{
    size_t left = (size_t)(text->end - text->at);

    /* An empty line is nothing that a system log could show. */
    while (text->form == SX_LOG_AS_SYSLOG && left > 0 && *text->at == '\n') {
        text->at++;
        left--;
    }
    if (left == 0) {
        return 0;
    }
    const size_t reach = left < SX_LOG_LINE_MAX ? left : SX_LOG_LINE_MAX;
    const char *const found = memchr(text->at, '\n', reach);
    const size_t len = found == NULL ? reach : (size_t)(found - text->at);
    size_t size = piece_write(text, piece, len);
    const bool ends = found != NULL || (len == left && !text->open);

    if (ends && text->form == SX_LOG_AS_LINES) {
        piece[size++] = '\n';
    }
    text->in_line = !ends;
    text->at += len + (found != NULL ? 1 : 0);
    return size;
}
