/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* obedient.h - three processes that obey: the host tells each which call to make, none of which
 * blocks.  One of them, the victim, ends at some point; each of the others gets one answer to each
 * of its calls, and the events of that end. */
#ifndef SX_TESTS_FAULT_OBEDIENT_H
#define SX_TESTS_FAULT_OBEDIENT_H

#include "fault.h"

#define OBEDIENT_JOB "mortal.job"
enum { FIRST, OTHER, VICTIM, OBEDIENT_SIZE };
#define SURVIVORS 2
#define LIMIT_SECONDS 1

/* Orders of all tests; a test's own are 1 and up. */
enum { FINALIZE = 0xf0, LEAVE }; /* LEAVE: finalize, unless that is done, and exit */

/* ---- the processes --------------------------------------------------------------------------- */

extern int obedient_number; /* of this process */

/* The answer to a call: each call has one of these. */
void obedient_answered(pmix_status_t status, void *cbdata);

/* A role: obey until LEAVE.  @act makes the call that an order of the test's own wants, which calls
 * obedient_answered.  Events of @codes are counted; they are of the victim, or the process fails. */
int obedient_role(const char *arg, pmix_status_t codes[], size_t code_count,
                  void (*act)(uint32_t order));

/* ---- the host -------------------------------------------------------------------------------- */

enum ending { KILL, FINALIZES, STOP, STOP_AND_LIMIT, LEAVES };

/* Start the server, and OBEDIENT_SIZE processes in the role "obedient". */
void obedient_begin(void);
/* All leave.  By then each survivor has had @told events of the victim's end, the last with @code,
 * and each of them one answer to each of its calls. */
void obedient_finish(uint64_t notified, pmix_status_t code);

/* Tell @who to do @what, and wait until it has made the call. */
void order(int who, uint32_t what);
void order_survivors(uint32_t what);
void order_all(uint32_t what);

/* Wait for the answers, and judge the last one. */
void answered(int who, pmix_status_t want);
void answered_survivors(pmix_status_t want);
void answered_all(pmix_status_t want);

/* LEAVES is an order of the test's own. */
void end_victim(enum ending ending);
void victim_goes_on(void); /* it had been stopped */
/* Whether it is gone then, or only stands still. */
bool is_over(enum ending ending);
/* What the call of another ends with that waits for the victim, which has joined it with others. */
pmix_status_t status_of(enum ending ending);

#endif
