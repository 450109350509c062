/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact.c - the text of a contact file, both ways. */
#include "control/contact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/rendezvous.h"

#define FORMAT "shmix 1"

static const struct {
    const char *text, *prefix;
} roles[SX_CONTACT_ROLES] = {
    [SX_CONTACT_ROLE_SYSTEM] = { "the system server", "pmix.sys." },
    [SX_CONTACT_ROLE_SCHEDULER] = { "the scheduler's server", "pmix.sched." },
    [SX_CONTACT_ROLE_CONTROLLER] = { "the system controller's server", "pmix.sysctrlr." },
};

const char *sx_contact_role_text(enum sx_contact_role role)
{
    return roles[role].text;
}

void sx_contact_role_name(char ret[SX_CONTACT_NAME_MAX], enum sx_contact_role role,
                          const char *host)
{
    snprintf(ret, SX_CONTACT_NAME_MAX, "%s%s", roles[role].prefix, host);
}

void sx_contact_system_name(char ret[SX_CONTACT_NAME_MAX], const char *host)
{
    sx_contact_role_name(ret, SX_CONTACT_ROLE_SYSTEM, host);
}

void sx_contact_tool_name(char ret[SX_CONTACT_NAME_MAX], const char *host, const char *of)
{
    snprintf(ret, SX_CONTACT_NAME_MAX, "pmix.%s.tool%s%s", host, of != NULL ? "." : "",
             of != NULL ? of : "");
}

const char *sx_contact_address(const char *uri, pmix_proc_t *ret)
{
    const char *const name_end = strrchr(uri, ';');
    const char *const address = name_end != NULL ? name_end + 1 : uri;
    pmix_proc_t server = { .rank = PMIX_RANK_UNDEF };

    if (strncmp(address, SX_RENDEZVOUS_SCHEME, strlen(SX_RENDEZVOUS_SCHEME)) != 0) {
        return NULL;
    }
    if (ret != NULL && name_end != NULL) {
        const char *const dot = memrchr(uri, '.', (size_t)(name_end - uri));

        if (dot != NULL && dot != uri && (size_t)(dot - uri) < sizeof(server.nspace)) {
            memcpy(server.nspace, uri, (size_t)(dot - uri));
            server.rank = (pmix_rank_t)strtoul(dot + 1, NULL, 10);
        }
    }
    if (ret != NULL) {
        *ret = server;
    }
    return address;
}

size_t sx_contact_print(const struct sx_contact *contact, char *ret, size_t size)
{
    const int n = snprintf(ret, size, "%s\n" FORMAT "\n%d\n%u:%u\n", contact->uri,
                           (int)contact->pid, (unsigned)contact->uid, (unsigned)contact->gid);

    return n < 0 || (size_t)n >= size ? 0 : (size_t)n;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Check the file behind @fd.  Return: NULL when it is trusted, else the reason. */
static const char *file_fault(const struct stat *st)
{
    if (!S_ISREG(st->st_mode)) {
        return "is no regular file";
    }
    if (st->st_uid != 0 && st->st_uid != geteuid()) {
        return "belongs to another user, who is not root: it is not believed";
    }
    if ((st->st_mode & 022) != 0) {
        return "can be written by other users: it is not believed";
    }
    return NULL;
}

/* All of the file, and a NUL.  Return: its bytes, 0 for a file that is empty or too large. */
static size_t read_all(int fd, char text[SX_CONTACT_BYTES_MAX + 1])
{
    size_t used = 0;
    ssize_t n;

    do {
        n = read(fd, text + used, SX_CONTACT_BYTES_MAX + 1 - used);
        used += n > 0 ? (size_t)n : 0;
    } while (used <= SX_CONTACT_BYTES_MAX && (n > 0 || (n < 0 && errno == EINTR)));
    if (n < 0 || used > SX_CONTACT_BYTES_MAX) {
        return 0;
    }
    text[used] = '\0';
    return used;
}

static pmix_status_t text_parse(char *text, size_t size, struct sx_contact *ret,
                                const char **ret_why)
{
    char *const line_end = memchr(text, '\n', size);
    int pid, end = 0;

    *ret_why = "is no contact file of a server";
    if (line_end == NULL || strlen(text) != size || line_end - text >= SX_CONTACT_URI_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    *line_end = '\0';
    *ret = (struct sx_contact){ .pid = 0 };
    if (sx_contact_address(text, &ret->server) == NULL) {
        const bool is_other = strstr(text, ";tcp") != NULL;

        *ret_why = is_other ? "is of a server of another PMIx library, which this one cannot talk "
                              "to: the tool and the server need the same library"
                            : *ret_why;
        return is_other ? PMIX_ERR_NOT_SUPPORTED : PMIX_ERR_BAD_PARAM;
    }
    memcpy(ret->uri, text, (size_t)(line_end - text));
    if (sscanf(line_end + 1, FORMAT "\n%d\n%u:%u\n%n", &pid, &ret->uid, &ret->gid, &end) != 3 ||
        line_end[1 + end] != '\0' || end == 0 || pid <= 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    ret->pid = pid;
    return PMIX_SUCCESS;
}

pmix_status_t sx_contact_read(int dir_fd, const char *name, struct sx_contact *ret,
                              const char **ret_why)
{
    char text[SX_CONTACT_BYTES_MAX + 1];
    struct stat st;
    /* A FIFO must not block, a terminal not become ours. */
    const int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        *ret_why = errno == ENOENT   ? "is not there"
                   : errno == ELOOP  ? "is a link, which is not followed"
                   : errno == EACCES ? "may not be read by this user"
                                     : "cannot be opened";
        return errno == ENOENT ? PMIX_ERR_NOT_FOUND : PMIX_ERR_NO_PERMISSIONS;
    }
    const char *const fault = fstat(fd, &st) != 0 ? "cannot be looked at" : file_fault(&st);
    const size_t size = fault == NULL ? read_all(fd, text) : 0;

    close(fd);
    if (fault != NULL) {
        *ret_why = fault;
        return PMIX_ERR_NO_PERMISSIONS;
    }
    if (size == 0) {
        *ret_why = "is empty, or too large for a contact file";
        return PMIX_ERR_BAD_PARAM;
    }
    return text_parse(text, size, ret, ret_why);
}

bool sx_contact_is_stale(const struct sx_contact *contact)
{
    return sx_rendezvous_is_deserted(sx_contact_address(contact->uri, NULL), contact->pid);
}
