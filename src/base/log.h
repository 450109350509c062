/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log.h - one line per message on stderr, level from SHMIX_LOG (none|error|warn|info|debug).
 *
 *     warn:         shmix[4711] warn: TEXT
 *     info, debug:  14:03:07.812Z shmix[4711 rank 3] warn: TEXT
 *
 * The default is warn.  A line is one write(2), so lines of many processes do not mix.  Any
 * thread may log; nothing is allocated and no lock is taken. */
#ifndef SX_BASE_LOG_H
#define SX_BASE_LOG_H

#include <stdbool.h>

enum sx_log_level {
    SX_LOG_NONE = 0,
    SX_LOG_ERROR,
    SX_LOG_WARN,
    SX_LOG_INFO,
    SX_LOG_DEBUG,
};

/* Clients and servers call this at their start: it warns of a wrong SHMIX_LOG, once, instead of at
 * the first line. */
void sx_log_begin(void);

/* The level is read from the environment once, at the first call. */
bool sx_log_wants(enum sx_log_level level);

/* Set the part of this process in its job, as "server" or "rank 3"; copied, at most 63 bytes.
 * NULL: nothing, as before the first call. */
void sx_log_set_name(const char *name);

/* @may_write is called on the logging thread before each line that the level wants; false: the line
 * is not written.  It may log itself. */
void sx_log_set_judge(bool (*may_write)(enum sx_log_level level));

void sx_log(enum sx_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
