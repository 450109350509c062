/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact.c - a contact file for each way in which a tool searches for this server. */
#include "server/entry/entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "control/contact.h"

#define PRIVATE 0600
#define FOR_ALL 0644

void sx_contacts_init(struct sx_server *server)
{
    for (size_t i = 0; i < SX_COUNT(server->entry.contacts); i++) {
        server->entry.contacts[i] = SX_CONTACT_FILE_NULL;
    }
}

void sx_contacts_close(struct sx_server *server)
{
    for (size_t i = 0; i < SX_COUNT(server->entry.contacts); i++) {
        sx_contact_file_close(&server->entry.contacts[i]);
    }
}

static pmix_status_t contact_of(const struct sx_server *server, struct sx_contact *ret)
{
    char *const uri = sx_server_uri(server);
    const bool fits = uri != NULL && strlen(uri) < sizeof(ret->uri);

    *ret = (struct sx_contact){
        .server = server->self, .pid = server->pid, .uid = geteuid(), .gid = getegid()
    };
    if (fits) {
        strcpy(ret->uri, uri);
    }
    free(uri);
    return fits ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* An optional file.  When it cannot be written, it is missing, with a log line. */
static void offer(struct sx_server *server, enum sx_contact_use use, const char *of,
                  const struct sx_contact *contact)
{
    struct sx_contact other;
    char name[SX_CONTACT_NAME_MAX];
    const char *why;

    sx_contact_tool_name(name, server->hostname, of);
    const struct sx_contact_place place = {
        .dir = server->tmpdir, .name = name, .mode = PRIVATE, .is_foreseen = true
    };
    const pmix_status_t rc = sx_contact_file_open(&server->entry.contacts[use], &place, contact,
                                                  &other, &why);

    if (rc != PMIX_SUCCESS) {
        sx_log(rc == PMIX_ERR_EXISTS && of == NULL ? SX_LOG_INFO : SX_LOG_WARN,
               "tools do not find this server as '%s' in '%s': %s%s", name, server->tmpdir,
               rc == PMIX_ERR_EXISTS ? "it " : "", why);
    }
}

/* A file that the host asked for by name; a failure is an error. */
static pmix_status_t insist(struct sx_server *server, enum sx_contact_use use,
                            const struct sx_contact_place *place, const struct sx_contact *contact)
{
    const char *const dir = place->dir, *const name = place->name;
    struct sx_contact other = { .pid = 0 };
    const char *why;
    const pmix_status_t rc = sx_contact_file_open(&server->entry.contacts[use], place, contact,
                                                  &other, &why);

    if (rc == PMIX_ERR_EXISTS) {
        const bool has_role = use < (enum sx_contact_use)SX_CONTACT_ROLES;

        return SX_RAISE(rc, "'%s' in '%s' %s: process %d, %s%s", name, dir, why, (int)other.pid,
                        has_role ? sx_contact_role_text((enum sx_contact_role)use) : other.uri,
                        has_role ? " of this node; there is one at a time" : "");
    }
    return rc == PMIX_SUCCESS ? rc
                              : SX_RAISE(rc, "no contact file '%s' in '%s': %s", name, dir, why);
}

static pmix_status_t open_roles(struct sx_server *server, const struct sx_server_options *options,
                                const struct sx_contact *contact)
{
    const char *const dir = sx_contact_dir(options->system_tmpdir, SX_ENV_SYSTEM_DIR);
    const bool has[SX_CONTACT_ROLES] = { [SX_CONTACT_ROLE_SYSTEM] = options->system_tools,
                                         [SX_CONTACT_ROLE_SCHEDULER] = options->scheduler,
                                         [SX_CONTACT_ROLE_CONTROLLER] = options->controller };
    char name[SX_CONTACT_NAME_MAX];
    const struct sx_contact_place place = {
        .dir = dir, .name = name, .mode = FOR_ALL, .is_foreseen = true
    };
    pmix_status_t rc = PMIX_SUCCESS;

    for (unsigned role = 0; role < SX_CONTACT_ROLES && rc == PMIX_SUCCESS; role++) {
        if (has[role]) {
            sx_contact_sweep(dir);
            sx_contact_role_name(name, (enum sx_contact_role)role, server->hostname);
            rc = insist(server, (enum sx_contact_use)role, &place, contact);
        }
    }
    return rc;
}

static pmix_status_t open_launcher(struct sx_server *server, const char *path,
                                   const struct sx_contact *contact)
{
    const char *const slash = path != NULL ? strrchr(path, '/') : NULL;
    char dir[PATH_MAX] = ".";

    if (path == NULL || path[0] == '\0') {
        return PMIX_SUCCESS;
    }
    if (strlen(path) >= sizeof(dir)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "the path of the launcher's contact file is longer "
                        "than %zu bytes",
                        sizeof(dir) - 1);
    }
    if (slash != NULL) {
        snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    }
    const struct sx_contact_place place = { .dir = dir,
                                            .name = slash != NULL ? slash + 1 : path,
                                            .mode = PRIVATE };

    return insist(server, SX_CONTACT_LAUNCHER, &place, contact);
}

pmix_status_t sx_contacts_open(struct sx_server *server, const struct sx_server_options *options)
{
    struct sx_contact contact;
    char pid[16];

    if (!server->takes_tools) {
        return PMIX_SUCCESS;
    }
    pmix_status_t rc = contact_of(server, &contact);
    if (rc == PMIX_SUCCESS) {
        rc = open_roles(server, options, &contact);
    }
    if (rc == PMIX_SUCCESS) {
        rc = open_launcher(server,
                           options->launcher_file != NULL ? options->launcher_file
                                                          : getenv("PMIX_LAUNCHER_RNDZ_FILE"),
                           &contact);
    }
    if (rc == PMIX_SUCCESS) {
        snprintf(pid, sizeof(pid), "%d", (int)server->pid);
        sx_contact_sweep(server->tmpdir);
        offer(server, SX_CONTACT_BY_NSPACE, server->self.nspace, &contact);
        offer(server, SX_CONTACT_BY_PID, pid, &contact);
        offer(server, SX_CONTACT_PLAIN, NULL, &contact);
    }
    return rc;
}
