/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool_search.h - which server a tool means, and how to connect to it.
 *
 *   named (the first of these that is given; if it fails, so does the search):
 *     attachment file, URI, process, namespace, the server of a role, the first of several roles
 *   not named:
 *     the system server, else the one server of this user's sessions
 *
 * Sessions are searched for in the temporary directory, and in the directories of this user's
 * launchers in it. */
#ifndef SX_CLIENT_LIFE_TOOL_SEARCH_H
#define SX_CLIENT_LIFE_TOOL_SEARCH_H

#include "base/call/directive_tables.h"

#define SX_TOOL_WHY_MAX 2048
#define SX_TOOL_WHY_SEVERAL "name one of yours" /* part of @ret_why, if that is the whole remedy */

/* Connect to the server that is meant; retried as the options say while there is no such server.
 * Return: PMIX_SUCCESS with a socket; PMIX_ERR_UNREACH when there is none, or several and none is
 * named; PMIX_ERR_BAD_PARAM for directions that contradict each other, and for a file that is not a
 * contact file; PMIX_ERR_NOT_SUPPORTED for a server of another PMIx library;
 * PMIX_ERR_NO_PERMISSIONS for one of another user, and for any named process of that user.
 * @ret_why says what was searched for, and where. */
pmix_status_t sx_tool_search(const struct sx_tool_options *options, int *ret_fd,
                             char ret_why[SX_TOOL_WHY_MAX]);

#endif
