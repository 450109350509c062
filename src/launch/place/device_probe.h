/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* device_probe.h - a process that discovers the machine's devices while the ranks run, and what
 * another launcher has discovered.
 *
 *   IDLE -----all ranks have connected, or a tool, or all have been started 10 ms ago--> LOOKING
 *   LOOKING --its text has come--> KNOWN     who has asked for the topology gets it
 *       \---it ended without one----^        with what the launcher has seen: CPUs and memory
 *
 * Reading the configuration of devices takes ten times as long as the rest of a topology, and the
 * launcher itself does not need it.  The probe is a process, not a thread, because a process can be
 * ended at any moment.  A launcher whose ranks have not asked does so, and the kernel when the
 * launcher is killed. */
#ifndef SX_LAUNCH_PLACE_DEVICE_PROBE_H
#define SX_LAUNCH_PLACE_DEVICE_PROBE_H

#include <stddef.h>
#include <sys/types.h>

#include "launch/job/loop.h"
#include "launch/job/session.h"
#include "launch/place/place.h"

struct sx_run_state;
struct sx_session;

struct sx_run_look {
    struct sx_run_machine *machine; /* receives the text */
    struct sx_run_state *run;
    int asked_fd; /* the process waits until this is written; -1: it does not wait */
    pid_t pid;    /* 0: none, or the process has been reaped */
    struct sx_poll watch;
    char *text;
    size_t used, room;
};

#define SX_RUN_LOOK_NULL ((struct sx_run_look){ .asked_fd = -1, .watch.fd = -1 })

/* Start the process, while this one has one thread.  If it cannot be started, the launcher's own
 * text is used.  The process does not probe if a launcher whose directory is beside that of
 * @session has done so (launch/place/device_probe.h). */
void sx_run_look_begin(struct sx_run_look *look, struct sx_run_machine *machine,
                       const struct sx_session *session);
/* It is not wanted any more: deinit has less to wait for. */
void sx_run_look_end(const struct sx_run_look *look);
void sx_run_look_deinit(struct sx_run_look *look);

/* Read the text in the loop of @run, and then give it to the server's namespaces; of a
 * SX_RUN_LOOK_NULL there is nothing to read.  Return: 0 or errno. */
int sx_run_look_open(struct sx_run_look *look, struct sx_run_state *run);

/* All ranks of the command line have been started. */
void sx_run_look_started(const struct sx_run_look *look);

/* For a rank that asks the launcher itself for the text (launch/pmi/pmi1.h), or before there is any
 * job: wait for the text, two seconds at most.  The process is ended after that, which may take one
 * second more. */
void sx_run_look_await(struct sx_run_look *look);

/* ---- probe cache ----------------------------------------------------------------------------- */

/* The machine's devices as another launcher of this user has discovered them.
 *
 * Discovering devices takes long.  A launcher that has done it stores the text for its jobs,
 * together with a key of everything on which the text depends (SX_NSPACE_MACHINE).  Another
 * launcher that runs meanwhile, and has the same key, reads the text there.  The memory is freed
 * with the last of these jobs. */

/* The key of a probe, a word without white space.  It covers versions, name spaces and the control
 * group; the CPUs and memory nodes that exist and may be used; and the devices that exist.  Return:
 * malloc'ed; NULL when the environment names hwloc's input, or memory is out. */
char *sx_run_known_sign(void);

/* The text that belongs to @sign, of a launcher whose directory is beside that of @session.  At
 * most 32 launchers are tried, and nothing in their memory is trusted.  Return: malloc'ed XML that
 * hwloc accepts, with *@ret_launcher; NULL: no launcher has it. */
char *sx_run_known_find(const struct sx_session *session, const char *sign, pid_t *ret_launcher);

#endif
