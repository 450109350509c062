/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fickle.h - a host with an entry for all that a client can ask for, which answers inside the call,
 * refuses, answers when who has asked has gone, and never answers: each entry in turns. */
#ifndef SX_TESTS_FAULT_FICKLE_H
#define SX_TESTS_FAULT_FICKLE_H

/* Fill in fault_module, before the server starts. */
void fickle_begin(void);

/* Whoever has asked has gone: answer what is to be answered late. */
void fickle_settle(void);

/* Say how often each entry has been asked; fail if it were but few of them. */
void fickle_end(void);

#endif
