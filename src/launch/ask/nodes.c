/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodes.c - only files and the kernel are read.  No resolver is called: one that hangs would hang
 * the launch. */
#include "launch/ask/sources.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/process.h"
#include "base/util.h"
#include "launch/common/options.h"
#include "launch/common/say.h"

#define BLANKS " \t\r\n"
#define FILE_LINES_MAX 65536u /* lines of a system's file that are read */
#define INTERFACES_MAX 65536u

/* ---- addresses ------------------------------------------------------------------------------- */

struct address {
    int family; /* AF_UNSPEC: no address */
    union {
        struct in_addr four;
        struct in6_addr six;
    };
};

/* Parse an address, which may name its interface behind a '%'. */
static struct address address_of(const char *text)
{
    struct address address = { .family = AF_UNSPEC };
    char plain[INET6_ADDRSTRLEN];
    const size_t len = strcspn(text, "%");

    if (len < sizeof(plain)) {
        memcpy(plain, text, len);
        plain[len] = '\0';
        address.family = inet_pton(AF_INET, plain, &address.four) == 1   ? AF_INET
                         : inet_pton(AF_INET6, plain, &address.six) == 1 ? AF_INET6
                                                                         : AF_UNSPEC;
    }
    return address;
}

static bool is_loopback(const struct address *address)
{
    return address->family == AF_INET ? ntohl(address->four.s_addr) >> 24 == IN_LOOPBACKNET
                                      : IN6_IS_ADDR_LOOPBACK(&address->six);
}

static bool is_of_interface(const struct address *address, const struct sockaddr *at)
{
    if (at == NULL || at->sa_family != address->family) {
        return false;
    }
    return address->family == AF_INET
               ? memcmp(&((const struct sockaddr_in *)(const void *)at)->sin_addr, &address->four,
                        sizeof(address->four)) == 0
               : memcmp(&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr, &address->six,
                        sizeof(address->six)) == 0;
}

/* Whether @text is an address that this machine has. */
static bool is_own_address(const char *text)
{
    const struct address address = address_of(text);
    struct ifaddrs *all = NULL;
    bool own = address.family != AF_UNSPEC && is_loopback(&address);
    unsigned count = 0;

    if (address.family == AF_UNSPEC || own || getifaddrs(&all) != 0) {
        return own;
    }
    for (const struct ifaddrs *at = all; at != NULL && !own && count < INTERFACES_MAX; count++) {
        own = is_of_interface(&address, at->ifa_addr);
        at = at->ifa_next;
    }
    freeifaddrs(all);
    return own;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Whether @fn returns true for a line of the file @path, without the comment that a '#' begins. */
static bool any_line(const char *path, bool (*fn)(char *line, const void *arg), const void *arg)
{
    FILE *const file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    bool any = false;

    for (unsigned i = 0; file != NULL && !any && i < FILE_LINES_MAX; i++) {
        if (getline(&line, &room, file) < 0) {
            break;
        }
        line[strcspn(line, "#")] = '\0';
        any = fn(line, arg);
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return any;
}

/* For "ADDRESS NAME...": whether the line gives the name @arg to an address of this machine. */
static bool hosts_line(char *line, const void *arg)
{
    char *rest = NULL, *const address = strtok_r(line, BLANKS, &rest), *name;
    bool named = false;

    while (address != NULL && !named && (name = strtok_r(NULL, BLANKS, &rest)) != NULL) {
        named = strcasecmp(name, arg) == 0;
    }
    return named && is_own_address(address);
}

bool sx_run_nodes_in_hosts(const char *path, const char *name)
{
    return any_line(path, hosts_line, name);
}

/* For "search DOMAIN..."  or "domain DOMAIN": whether the domain @arg is among them. */
static bool domains_line(char *line, const void *arg)
{
    char *rest = NULL, *const word = strtok_r(line, BLANKS, &rest), *domain;
    bool named = false;

    if (word == NULL || (strcmp(word, "search") != 0 && strcmp(word, "domain") != 0)) {
        return false;
    }
    while (!named && (domain = strtok_r(NULL, BLANKS, &rest)) != NULL) {
        named = strcasecmp(domain, arg) == 0;
    }
    return named;
}

bool sx_run_nodes_in_domain(const char *path, const char *name, const char *own)
{
    const size_t len = strlen(own);

    return strncasecmp(name, own, len) == 0 && name[len] == '.' &&
           any_line(path, domains_line, name + len + 1);
}

bool sx_run_nodes_is_this(const char *name, const char *own)
{
    static const char *const local[] = { "localhost",     "localhost.localdomain",
                                         "localhost4",    "localhost4.localdomain4",
                                         "localhost6",    "localhost6.localdomain6",
                                         "ip6-localhost", "ip6-loopback" };
    const size_t len = strlen(name);

    for (size_t i = 0; i < SX_COUNT(local); i++) {
        if (strcasecmp(name, local[i]) == 0) {
            return true;
        }
    }
    if (len == 0) {
        return false;
    }
    return (strncasecmp(name, own, len) == 0 && (own[len] == '\0' || own[len] == '.')) ||
           is_own_address(name) || sx_run_nodes_in_domain("/etc/resolv.conf", name, own) ||
           sx_run_nodes_in_hosts("/etc/hosts", name);
}

bool sx_run_nodes_word(char *word, const char *own, const char **ret_slots)
{
    char *const bracket = word[0] == '[' ? strchr(word, ']') : NULL;
    char *colon;

    *ret_slots = NULL;
    if (bracket != NULL) {
        if (bracket[1] != '\0' && bracket[1] != ':') {
            return false;
        }
        *ret_slots = bracket[1] == ':' ? bracket + 2 : NULL;
        *bracket = '\0';
        if (sx_run_nodes_is_this(word + 1, own)) {
            return true;
        }
        *bracket = ']';
        return false;
    }
    if (sx_run_nodes_is_this(word, own)) {
        return true;
    }
    colon = strrchr(word, ':');
    if (colon == NULL) {
        return false;
    }
    *colon = '\0';
    *ret_slots = colon + 1;
    if (sx_run_nodes_is_this(word, own)) {
        return true;
    }
    *colon = ':';
    return false;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Receives the slots and the reason of a failure, which begins with the place in a file. */
struct reader {
    char own[HOST_NAME_MAX + 1];
    uint32_t *slots, max, line; /* line 0: the list is not a file */
    char *message;
    enum sx_run_nodes *why; /* the status that goes with the message */
};

__attribute__((format(printf, 2, 3))) static bool refuse(const struct reader *reader,
                                                         const char *fmt, ...)
{
    char place[32] = "";
    va_list args;
    int len;

    *reader->why = SX_RUN_NODES_WRONG; /* unless the caller sets a more precise one */
    if (reader->line > 0) {
        snprintf(place, sizeof(place), "line %u: ", reader->line);
    }
    len = snprintf(reader->message, SX_RUN_MESSAGE_MAX, "%s", place);
    va_start(args, fmt);
    vsnprintf(reader->message + len, SX_RUN_MESSAGE_MAX - (size_t)len, fmt, args);
    va_end(args);
    return false;
}

static bool slots_add(const struct reader *reader, uint32_t *slots, const char *text)
{
    int64_t number = 1;

    if (text != NULL && strcmp(text, "*") != 0 && !sx_cli_number(text, 1, reader->max, &number)) {
        return refuse(reader, "'%.80s' is not a number of slots from 1 to %u", text, reader->max);
    }
    if (number > (int64_t)reader->max - *slots) {
        return refuse(reader, "there are more than %u slots", reader->max);
    }
    *slots += (uint32_t)number;
    return true;
}

/* Add "NODE" or "NODE:SLOTS"; @count, if not NULL, replaces SLOTS.  @word is changed. */
static bool node_add(const struct reader *reader, char *word, const char *count)
{
    const char *said;

    if (!sx_run_nodes_word(word, reader->own, &said)) {
        (void)refuse(reader, "'%.80s' is not this node, '%.80s'", word, reader->own);
        *reader->why = word[0] == '\0' ? SX_RUN_NODES_WRONG : SX_RUN_NODES_ELSEWHERE;
        return false;
    }
    return slots_add(reader, reader->slots, count != NULL ? count : said);
}

enum sx_run_nodes sx_run_nodes_list(uint32_t *slots, const char *list, uint32_t max,
                                    char message[SX_RUN_MESSAGE_MAX])
{
    enum sx_run_nodes why = SX_RUN_NODES_HERE;
    struct reader reader = { .slots = slots, .max = max, .message = message, .why = &why };
    char *const copy = sx_cli_strdup(list), *at = copy, *word;
    bool good = true;

    sx_process_nodename(reader.own);
    while (good && (word = strsep(&at, ",")) != NULL) {
        good = node_add(&reader, word, NULL);
    }
    free(copy);
    return why;
}

/* Remove the blanks around each '='. */
static void equals_join(char *line)
{
    char *to = line;

    for (const char *at = line; *at != '\0'; at++) {
        const char *const next = at + strspn(at, BLANKS);

        if (next != at && (*next == '=' || (to > line && to[-1] == '='))) {
            at = next;
        }
        if (*at == '\0') {
            break;
        }
        *to++ = *at;
    }
    *to = '\0';
}

static bool line_add(const struct reader *reader, char *line)
{
    static const char *const limits[] = { "max_slots=", "max-slots=" };
    char *rest = NULL, *node, *word;
    const char *count = NULL;
    uint32_t limit = 0;

    equals_join(line);
    node = strtok_r(line, BLANKS, &rest);
    if (node == NULL) {
        return true;
    }
    while ((word = strtok_r(NULL, BLANKS, &rest)) != NULL) {
        const size_t len = strlen(limits[0]);

        if (strncmp(word, "slots=", 6) == 0) {
            count = word + 6;
        } else if (strncmp(word, limits[0], len) != 0 && strncmp(word, limits[1], len) != 0) {
            return refuse(reader, "'%.80s' is not slots=N or max_slots=N", word);
        } else if (!slots_add(reader, &limit, word + len)) {
            return false;
        }
    }
    return node_add(reader, node, count);
}

/* Return: the *ret_size bytes of @file, which the caller frees; NULL when there are too many, or
 * the file cannot be read. */
static char *bytes_read(const struct reader *reader, FILE *file, size_t *ret_size)
{
    char *const bytes = sx_cli_calloc(SX_RUN_NODES_BYTES_MAX + 1, 1);

    *ret_size = fread(bytes, 1, SX_RUN_NODES_BYTES_MAX + 1, file);
    if (ferror(file) != 0) {
        (void)refuse(reader, "%m");
        *reader->why = SX_RUN_NODES_UNREADABLE;
    } else if (*ret_size > SX_RUN_NODES_BYTES_MAX) {
        (void)refuse(reader, "it has more than %zu bytes", SX_RUN_NODES_BYTES_MAX);
    } else if (memchr(bytes, '\0', *ret_size) != NULL) {
        (void)refuse(reader, "it has a zero byte, and is no text");
    } else {
        return bytes;
    }
    free(bytes);
    return NULL;
}

/* Refuse a device or a directory, and stop reading a file that is too large.  Return: the whole
 * text, of *ret_size bytes, which the caller frees; NULL when it is refused. */
static char *text_read(const struct reader *reader, const char *path, size_t *ret_size)
{
    struct stat st;
    char *text;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)) {
        (void)refuse(reader, "it is neither a file nor a pipe");
        return NULL;
    }
    FILE *const file = fopen(path, "re");

    if (file == NULL) {
        (void)refuse(reader, "%m");
        *reader->why = SX_RUN_NODES_UNREADABLE;
        return NULL;
    }
    text = bytes_read(reader, file, ret_size);
    fclose(file);
    return text;
}

enum sx_run_nodes sx_run_nodes_file(uint32_t *slots, const char *path, uint32_t max,
                                    char message[SX_RUN_MESSAGE_MAX])
{
    enum sx_run_nodes why = SX_RUN_NODES_HERE;
    struct reader reader = { .slots = slots, .max = max, .message = message, .why = &why };
    const uint32_t before = *slots;
    size_t size = 0;
    char *const text = text_read(&reader, path, &size), *at = text, *line;
    bool good = text != NULL;

    sx_process_nodename(reader.own);
    while (good && (line = strsep(&at, "\n")) != NULL) { /* a NUL ends it */
        reader.line++;
        line[strcspn(line, "#")] = '\0';
        good = line_add(&reader, line);
    }
    reader.line = 0;
    if (good && *slots == before) {
        (void)refuse(&reader, "it names no node");
    }
    free(text);
    return why;
}
