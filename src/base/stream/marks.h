/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* marks.h - the marks that are requested before each line of a process's output
 * (base/stream/log_text.h). */
#ifndef SX_BASE_STREAM_MARKS_H
#define SX_BASE_STREAM_MARKS_H

#include <stdbool.h>

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

#endif
