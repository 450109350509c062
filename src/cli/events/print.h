/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* print.h - one event as a line of text, or of JSON. */
#ifndef SX_CLI_EVENTS_PRINT_H
#define SX_CLI_EVENTS_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/record.h"

/* Print the event in @bytes (at a multiple of 8: struct sx_event and the data behind it).  Return:
 * false, and nothing is printed, when the bytes contradict themselves. */
bool sx_events_print(const uint8_t *bytes, size_t size, bool json);

/* Report that @count events from number @first on are lost. */
void sx_events_lost_print(uint64_t first, uint64_t count, bool json);

#endif
