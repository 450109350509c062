/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool_search.c - directions, directories, contact files. */
#include "client/life/life.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/contact.h"
#include "control/rendezvous.h"

#define RETRY_DELAY_NS SX_NS_PER_SEC

struct search {
    const struct sx_tool_options *options;
    char host[256];
    char *why; /* SX_TOOL_WHY_MAX */
    /* The contact files that are searched for in directories. */
    char name[SX_CONTACT_NAME_MAX]; /* of one file; empty: of the file of any server */
    struct sx_contact found;        /* the first one that fits */
    unsigned found_count;
    unsigned others_count; /* files of other users, if any server will do */
    pmix_status_t status;  /* of a file that exists but does not fit */
};

static void __attribute__((format(printf, 2, 3)))
report(struct search *search, const char *format, ...)
{
    const size_t used = strlen(search->why);
    va_list args;

    va_start(args, format);
    vsnprintf(search->why + used, SX_TOOL_WHY_MAX - used, format, args);
    va_end(args);
}

static const char *session_dir(const struct search *search)
{
    return sx_contact_dir(search->options->tmpdir, SX_ENV_SESSION_DIR);
}

static const char *system_dir(const struct search *search)
{
    return sx_contact_dir(search->options->system_tmpdir, SX_ENV_SYSTEM_DIR);
}

/* @what: for the library's log line, when no server listens there. */
static pmix_status_t contact_connect(const char *what, const struct sx_contact *contact,
                                     int *ret_fd)
{
    return sx_rendezvous_connect_uri(what, sx_contact_address(contact->uri, NULL), ret_fd);
}

/* ---- one file -------------------------------------------------------------------------------- */

/* Connect to the server of the file @path. */
static pmix_status_t by_path(struct search *search, const char *what, const char *path, int *ret_fd)
{
    const char *why;
    const pmix_status_t rc = sx_contact_read(AT_FDCWD, path, &search->found, &why);

    if (rc == PMIX_SUCCESS && sx_contact_is_stale(&search->found)) {
        report(search, "%s: '%s' is of process %d, a server that has ended", what, path,
               (int)search->found.pid);
        return PMIX_ERR_UNREACH;
    }
    if (rc != PMIX_SUCCESS) {
        report(search, "%s: '%s' %s", what, path, why);
        return rc == PMIX_ERR_NOT_FOUND ? PMIX_ERR_UNREACH : rc;
    }
    report(search, "%s: '%s' leads to nobody who answers", what, path);
    return contact_connect(path, &search->found, ret_fd);
}

static pmix_status_t by_uri(struct search *search, const char *uri, int *ret_fd)
{
    const char *const address = sx_contact_address(uri, NULL);

    if (strncmp(uri, "file:", 5) == 0) {
        return by_path(search, "the server of PMIX_SERVER_URI", uri + 5, ret_fd);
    }
    report(search, "no server at '%s'", uri);
    if (address == NULL) {
        report(search, ": it is not a server of this library, whose servers are at "
                       "\"NSPACE.RANK;unix:...\"");
        return PMIX_ERR_NOT_SUPPORTED;
    }
    return sx_rendezvous_connect_uri(PMIX_SERVER_URI, address, ret_fd);
}

static pmix_status_t by_role(struct search *search, enum sx_contact_role role, int *ret_fd)
{
    char name[SX_CONTACT_NAME_MAX], path[PATH_MAX];

    sx_contact_role_name(name, role, search->host);
    snprintf(path, sizeof(path), "%s/%s", system_dir(search), name);
    return by_path(search, sx_contact_role_text(role), path, ret_fd);
}

/* The first of those that PMIX_CONNECTION_ORDER lists, by the keys that ask for one. */
static pmix_status_t by_order(struct search *search, const char *order, int *ret_fd)
{
    static const char *const keys[SX_CONTACT_ROLES] = {
        [SX_CONTACT_ROLE_SYSTEM] = PMIX_CONNECT_TO_SYSTEM,
        [SX_CONTACT_ROLE_SCHEDULER] = PMIX_CONNECT_TO_SCHEDULER,
        [SX_CONTACT_ROLE_CONTROLLER] = PMIX_CONNECT_TO_SYS_CONTROLLER,
    };
    pmix_status_t rc = PMIX_ERR_UNREACH;

    for (const char *at = order; rc == PMIX_ERR_UNREACH && *at != '\0';) {
        const size_t len = strcspn(at, ",");
        unsigned role = 0;

        while (role < SX_CONTACT_ROLES &&
               (strlen(keys[role]) != len || strncmp(at, keys[role], len) != 0)) {
            role++;
        }
        if (role == SX_CONTACT_ROLES) {
            report(search, "PMIX_CONNECTION_ORDER '%s': it may list \"%s\", \"%s\" and \"%s\"",
                   order, keys[0], keys[1], keys[2]);
            return PMIX_ERR_BAD_PARAM;
        }
        rc = by_role(search, (enum sx_contact_role)role, ret_fd);
        at += len + (at[len] == ',');
        if (rc == PMIX_ERR_UNREACH && *at != '\0') {
            report(search, "; ");
        }
    }
    return rc;
}

/* ---- directories ----------------------------------------------------------------------------- */

/* Check the file @name in @dir_fd. */
static void file_look(struct search *search, int dir_fd, const char *name)
{
    struct sx_contact contact;
    const char *why;
    const pmix_status_t rc = sx_contact_read(dir_fd, name, &contact, &why);

    if (rc == PMIX_ERR_NOT_FOUND) {
        return;
    }
    if (rc == PMIX_ERR_NO_PERMISSIONS && search->name[0] == '\0') {
        search->status = rc;
        search->others_count++;
    } else if (rc != PMIX_SUCCESS) {
        search->status = rc;
        report(search, " '%s' %s;", name, why);
    } else if (sx_contact_is_stale(&contact)) {
        report(search, " '%s' is of a server that has ended;", name);
    } else {
        report(search, " process %d, %s;", (int)contact.pid, contact.uri);
        search->found = search->found_count++ == 0 ? contact : search->found;
    }
}

/* Every server has a file with its process id. */
static bool is_by_process(const struct search *search, const char *name)
{
    char prefix[SX_CONTACT_NAME_MAX];

    sx_contact_tool_name(prefix, search->host, "");
    const size_t len = strlen(prefix);

    return strncmp(name, prefix, len) == 0 && name[len] != '\0' &&
           name[len + strspn(name + len, "0123456789")] == '\0';
}

static void name_look(void *arg, int dir_fd, const char *name)
{
    struct search *const search = arg;

    if (is_by_process(search, name)) {
        file_look(search, dir_fd, name);
    }
}

static void directory_look(void *arg, int dir_fd)
{
    struct search *const search = arg;

    if (search->name[0] != '\0') {
        file_look(search, dir_fd, search->name);
    } else {
        sx_contact_names_each(dir_fd, name_look, search);
    }
}

/* In the directory of sessions, and in those of launchers that it has. */
static void sessions_look(struct search *search)
{
    search->found_count = search->others_count = 0;
    search->status = PMIX_ERR_UNREACH;
    const int why = sx_contact_dirs_each(session_dir(search), directory_look, search);

    if (why != 0) {
        report(search, " %s;", strerror(why));
    }
}

/* Find the one server whose files have @of in their name. */
static pmix_status_t by_name(struct search *search, const char *what, const char *of, int *ret_fd)
{
    sx_contact_tool_name(search->name, search->host, of);
    report(search, "no server of %s '%s': looked for '%s' in '%s':", what, of, search->name,
           session_dir(search));
    sessions_look(search);
    if (search->found_count == 0) {
        report(search, " none");
        return search->status;
    }
    return contact_connect(search->name, &search->found, ret_fd);
}

static pmix_status_t by_process(struct search *search, uint32_t pid, int *ret_fd)
{
    char of[16];

    snprintf(of, sizeof(of), "%u", pid);
    const pmix_status_t rc = by_name(search, "process", of, ret_fd);

    if (rc != PMIX_ERR_UNREACH) {
        return rc;
    }
    /* The server may have its files elsewhere. */
    const pmix_status_t tried = sx_rendezvous_connect_process((pid_t)pid, ret_fd);

    return tried == PMIX_SUCCESS || tried == PMIX_ERR_NO_PERMISSIONS ? tried : rc;
}

static void others_notify(struct search *search)
{
    if (search->others_count > 0) {
        report(search, " and %u of other users;", search->others_count);
    }
}

static pmix_status_t by_session(struct search *search, int *ret_fd)
{
    search->name[0] = '\0';
    report(search, "; servers of sessions in '%s':", session_dir(search));
    sessions_look(search);
    if (search->found_count > 1) {
        others_notify(search);
        report(search, " " SX_TOOL_WHY_SEVERAL ", by PMIX_SERVER_PIDINFO for example");
        return PMIX_ERR_UNREACH;
    }
    if (search->found_count == 0) {
        report(search, " none");
        others_notify(search);
        return search->status;
    }
    return contact_connect("the session's server", &search->found, ret_fd);
}

/* ---- all ------------------------------------------------------------------------------------- */

static pmix_status_t search_once(struct search *search, int *ret_fd)
{
    const struct sx_tool_options *const options = search->options;

    if (options->attachment_file != NULL) {
        return by_path(search, "the attachment file", options->attachment_file, ret_fd);
    }
    if (options->uri != NULL || options->tcp_uri != NULL) {
        return by_uri(search, options->uri != NULL ? options->uri : options->tcp_uri, ret_fd);
    }
    if (options->pid.given) {
        return by_process(search, options->pid.number, ret_fd);
    }
    if (options->server_nspace != NULL) {
        return by_name(search, "namespace", options->server_nspace, ret_fd);
    }
    if (options->order != NULL) {
        return by_order(search, options->order, ret_fd);
    }
    if (options->to_scheduler || options->to_controller) {
        return by_role(search,
                       options->to_scheduler ? SX_CONTACT_ROLE_SCHEDULER
                                             : SX_CONTACT_ROLE_CONTROLLER,
                       ret_fd);
    }
    pmix_status_t rc = by_role(search, SX_CONTACT_ROLE_SYSTEM, ret_fd);

    /* A file that exists but does not fit is not skipped in silence: its line stays. */
    if (rc != PMIX_SUCCESS && !options->to_system) {
        rc = by_session(search, ret_fd);
    }
    return rc;
}

static void pause_ns(uint64_t ns)
{
    struct timespec left = { .tv_sec = (time_t)(ns / SX_NS_PER_SEC),
                             .tv_nsec = (long)(ns % SX_NS_PER_SEC) };

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

pmix_status_t sx_tool_search(const struct sx_tool_options *options, int *ret_fd,
                             char ret_why[SX_TOOL_WHY_MAX])
{
    struct search search = { .options = options, .host = "localhost", .why = ret_why };
    const uint64_t delay_ns = options->retry_delay_ns != 0 ? options->retry_delay_ns
                                                           : RETRY_DELAY_NS;
    pmix_status_t rc = PMIX_ERR_UNREACH;

    ret_why[0] = '\0';
    if (options->uri != NULL && options->tcp_uri != NULL) {
        report(&search, "PMIX_SERVER_URI and PMIX_TCP_URI are given: one server can be meant");
        return PMIX_ERR_BAD_PARAM;
    }
    (void)gethostname(search.host, sizeof(search.host) - 1);
    if (options->hostname != NULL) {
        snprintf(search.host, sizeof(search.host), "%s", options->hostname);
    }
    for (uint32_t i = 0; rc == PMIX_ERR_UNREACH && i <= options->retries.number; i++) {
        if (i > 0) {
            pause_ns(delay_ns);
        }
        ret_why[0] = '\0';
        rc = search_once(&search, ret_fd);
    }
    return rc;
}
