/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* events.h - the verb `shmix events`. */
#ifndef SX_CLI_EVENTS_EVENTS_H
#define SX_CLI_EVENTS_EVENTS_H

int sx_cli_events(int argc, char **argv);

#endif
