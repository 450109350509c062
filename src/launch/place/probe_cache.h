/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* probe_cache.h - the machine's devices as another launcher of this user has discovered them.
 *
 * Discovering devices takes long.  A launcher that has done it stores the text for its jobs,
 * together with a key of everything on which the text depends (SX_NSPACE_MACHINE).  Another
 * launcher that runs meanwhile, and has the same key, reads the text there.  The memory is freed
 * with the last of these jobs. */
#ifndef SX_LAUNCH_PLACE_PROBE_CACHE_H
#define SX_LAUNCH_PLACE_PROBE_CACHE_H

#include "launch/job/session.h"

/* The key of a probe, a word without white space.  It covers versions, name spaces and the control
 * group; the CPUs and memory nodes that exist and may be used; and the devices that exist.  Return:
 * malloc'ed; NULL when the environment names hwloc's input, or memory is out. */
char *sx_run_known_sign(void);

/* The text that belongs to @sign, of a launcher whose directory is beside that of @session.  At
 * most 32 launchers are tried, and nothing in their memory is trusted.  Return: malloc'ed XML that
 * hwloc accepts, with *@ret_launcher; NULL: no launcher has it. */
char *sx_run_known_find(const struct sx_session *session, const char *sign, pid_t *ret_launcher);

#endif
