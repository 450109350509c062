/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact.h - which contact files (control/contact.h) this server has.
 *
 * Only with tool support: pmix.HOST.tool.NSPACE and pmix.HOST.tool.PID, and pmix.HOST.tool for the
 * first one; of the system server pmix.sys.HOST, which all users may read; and the file that the
 * host or the environment names for a launcher. */
#ifndef SX_SERVER_ENTRY_CONTACT_H
#define SX_SERVER_ENTRY_CONTACT_H

#include "server/model/state.h"

struct sx_server_options;

/* Before anything else. */
void sx_contacts_init(struct sx_server *server);
/* Once the rendezvous accepts connections.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS when there is a
 * system server, or another server has the launcher's file; what else fails of these two.  All with
 * a line. */
pmix_status_t sx_contacts_open(struct sx_server *server, const struct sx_server_options *options);
/* Calling it twice is safe. */
void sx_contacts_close(struct sx_server *server);

#endif
