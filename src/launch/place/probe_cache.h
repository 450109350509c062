/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* probe_cache.h - the machine's devices as another launcher of this user knows them.
 *
 * To look at the devices takes long.  A launcher that has looked tells its jobs the text, and with
 * it (SX_NSPACE_MACHINE) what the text depends on.  Another one that runs meanwhile, and would see
 * the same, reads it there: in memory that goes with the last of them. */
#ifndef SX_LAUNCH_PLACE_PROBE_CACHE_H
#define SX_LAUNCH_PLACE_PROBE_CACHE_H

#include "launch/job/session.h"

/* What a look depends on, in a word that has no white space: versions, name spaces, the control
 * group, the CPUs and memory nodes that are there and may be used, and which devices there are.
 * Return: malloc'ed; NULL where the environment tells hwloc what to read, or memory is out. */
char *sx_run_known_sign(void);

/* The text that belongs to @sign, of a launcher whose directory is beside that of @session.  At
 * most 32 of them are asked; their memory is trusted with nothing.  Return: malloc'ed XML that
 * hwloc takes, with *@ret_launcher; NULL: nobody has it. */
char *sx_run_known_find(const struct sx_session *session, const char *sign, pid_t *ret_launcher);

#endif
