/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* mem.c - `shmix mem`: find segments through /proc, map them read-only, list and print them.
 *
 * An independent reader: the files of this folder use docs/layout.md and not the library's own
 * layouts, so that a change of one without the other shows.  Segments are found by the names of
 * memfds that processes hold open (their creators do, and forked children of these).  A segment
 * that is held twice is shown once.  Bounded by the descriptors of the processes that the kernel
 * lets the caller read. */
#include "cli/mem/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "cli/target.h"
#include "cli/verbs.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The kernel gives the node of each page that is in our page table; reading a page puts
 * it there.  Only pages in use are read, so reading makes no page. */

#define SX_MEM_NODE_MAX 1024u /* the largest number of nodes for which a kernel is built */
#define SX_MEM_PAGES 512u     /* in one call */

/* Add the pages from @at on, @count of them. */
static void count_some(const uint8_t *at, size_t count, uint64_t pages[SX_MEM_NODE_MAX])
{
    const void *where[SX_MEM_PAGES];
    int nodes[SX_MEM_PAGES];

    for (size_t i = 0; i < count; i++) {
        where[i] = at + i * SX_PAGE_BYTES;
        (void)*(const volatile uint8_t *)where[i];
    }
    if (syscall(SYS_move_pages, 0, count, where, NULL, nodes, 0) != 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (nodes[i] >= 0 && nodes[i] < (int)SX_MEM_NODE_MAX) { /* else an error number */
            pages[nodes[i]]++;
        }
    }
}

/* Print the number of pages of @used, which begins with a page, on each node that has some: as "0:3
 * 2:17", or as JSON: {"0":3,"2":17}.  Pages without an answer of the kernel are left out. */
static void nodes_print(const struct sx_bytes *used, bool json)
{
    uint64_t pages[SX_MEM_NODE_MAX] = { 0 };
    const uint64_t all = sx_align_up(used->size, SX_PAGE_BYTES) / SX_PAGE_BYTES;
    const char *between = "";

    for (uint64_t done = 0; done < all; done += SX_MEM_PAGES) {
        const uint64_t left = all - done;

        count_some(used->at + done * SX_PAGE_BYTES, left < SX_MEM_PAGES ? left : SX_MEM_PAGES,
                   pages);
    }
    for (unsigned node = 0; node < SX_MEM_NODE_MAX; node++) {
        if (pages[node] != 0) {
            printf(json ? "%s\"%u\":%" PRIu64 : "%s%u:%" PRIu64, between, node, pages[node]);
            between = json ? "," : " ";
        }
    }
}

/* ---- mem ------------------------------------------------------------------------------------- */

#define SX_MEM_PREFIX "/memfd:shmix:"
#define SX_MEM_MAGIC UINT64_C(0x5358534547000002)
#define SX_MEM_ENDED UINT64_MAX /* in place of a successor */

enum kind { KIND_STORE = 1, KIND_RING, KIND_BOARD, KIND_LANE, KIND_OPS, KIND_COUNT };
static const char *const kind_names[KIND_COUNT] = { "?", "store", "ring", "board", "lane", "ops" };

struct found {
    dev_t dev;
    ino_t ino;
    pid_t holder;
    struct sx_bytes whole; /* the mapping */
    struct sx_bytes used;  /* its published part; empty: not a segment of this layout */
    uint32_t kind, pid;
    const char *name; /* the name of its namespace */
    uint64_t garbage_bytes, generation, successor;
    bool begun; /* the magic is set */
    bool later; /* of a layout that this command cannot read */
};

struct wish {
    bool dump, json, nodes;
    struct sx_whose whose;
};

struct scan {
    struct found *found;
    size_t count;
    bool denied;  /* some process could not be examined */
    bool existed; /* the wanted process exists */
};

/* ---- finding --------------------------------------------------------------------------------- */

static void judge(struct found *found)
{
    struct sx_bytes *const whole = &found->whole;
    const uint64_t magic = sx_bytes_u64(whole, 0);
    const uint64_t size_bytes = sx_bytes_u64(whole, 8);
    const uint64_t used_bytes = sx_bytes_u64(whole, 64);

    found->pid = sx_bytes_u32(whole, 24);
    found->kind = sx_bytes_u32(whole, 28);
    if (magic == SX_MEM_MAGIC && size_bytes == whole->size && used_bytes <= size_bytes &&
        used_bytes >= SX_MEM_BODY_OFF && found->kind > 0 && found->kind < KIND_COUNT &&
        sx_bytes_u64(whole, 40) == 0 && memchr(sx_bytes_at(whole, 128, 256), '\0', 256) != NULL) {
        found->used = sx_bytes_part(whole, 0, used_bytes);
    }
    found->begun = magic != 0;
    found->later = magic != SX_MEM_MAGIC && magic >> 24 == SX_MEM_MAGIC >> 24;
    found->name = (const char *)sx_bytes_at(whole, 128, 256);
    found->generation = sx_bytes_u64(whole, 32);
    found->successor = sx_bytes_u64(whole, 72);
    found->garbage_bytes = sx_bytes_u64(whole, 80);
}

static void take(struct scan *scan, pid_t holder, const char *path)
{
    struct found found = { .holder = holder };
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        scan->denied = scan->denied || errno == EACCES || errno == EPERM;
        return;
    }
    const int seals = fcntl(fd, F_GET_SEALS);
    bool wanted = fstat(fd, &st) == 0 && st.st_size >= (off_t)SX_MEM_BODY_OFF &&
                  /* Without these seals the file could be cut, and reading it would kill us. */
                  seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && (seals & F_SEAL_GROW) != 0;
    for (size_t i = 0; wanted && i < scan->count; i++) {
        wanted = scan->found[i].dev != st.st_dev || scan->found[i].ino != st.st_ino;
    }
    void *const at = wanted ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0)
                            : MAP_FAILED;
    close(fd);
    if (at == MAP_FAILED) {
        return;
    }
    found.dev = st.st_dev;
    found.ino = st.st_ino;
    found.whole = (struct sx_bytes){ .at = at, .size = (uint64_t)st.st_size };
    judge(&found);
    scan->found = sx_cli_realloc(scan->found, scan->count + 1, sizeof(found));
    scan->found[scan->count++] = found;
}

static void scan_process(struct scan *scan, pid_t pid)
{
    char path[64], link[320];
    const struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *const dir = opendir(path);
    if (dir == NULL) {
        scan->denied = scan->denied || errno == EACCES || errno == EPERM;
        scan->existed = scan->existed || errno != ENOENT;
        return;
    }
    scan->existed = true;
    while ((entry = readdir(dir)) != NULL) {
        const size_t prefix_len = sizeof(SX_MEM_PREFIX) - 1;
        char *const name = sx_cli_printf("%s/%s", path, entry->d_name);
        const ssize_t len = readlink(name, link, sizeof(link));
        if (len > (ssize_t)prefix_len && memcmp(link, SX_MEM_PREFIX, prefix_len) == 0) {
            take(scan, pid, name);
        }
        free(name);
    }
    closedir(dir);
}

static void scan_all(struct scan *scan)
{
    const struct dirent *entry;
    DIR *const dir = opendir("/proc");

    if (dir == NULL) {
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            scan_process(scan, (pid_t)strtol(entry->d_name, NULL, 10));
        }
    }
    closedir(dir);
}

/* ---- printing -------------------------------------------------------------------------------- */

/* The board with the positions up to which the lanes of @lane's server were read. */
static struct sx_bytes board_of(const struct scan *scan, const struct found *lane)
{
    for (size_t i = 0; i < scan->count; i++) {
        const struct found *const found = &scan->found[i];
        if (found->kind == KIND_BOARD && found->pid == lane->pid && found->holder == lane->holder &&
            found->used.size != 0) {
            return found->used;
        }
    }
    return (struct sx_bytes){ .at = NULL };
}

static void name_print(const char *name)
{
    char text[256];
    size_t i;

    for (i = 0; name[i] != '\0' && i < sizeof(text) - 1; i++) {
        text[i] = (char)(name[i] > 0x20 && name[i] < 0x7f ? name[i] : '?');
    }
    text[i] = '\0';
    printf("%-24s", text);
}

/* The note about a segment besides its figures; NULL: none. */
static const char *state_of(const struct found *found)
{
    if (found->used.size == 0) {
        return found->later   ? "of another layout; use the shmix of its version"
               : found->begun ? "not of shmix, or damaged"
                              : "is being made";
    }
    return found->successor == 0              ? NULL
           : found->successor == SX_MEM_ENDED ? "has ended"
                                              : "replaced";
}

static void line_print(const struct found *found, bool nodes)
{
    const char *const state = state_of(found);

    if (found->used.size == 0) {
        printf("%-6s %-24s %8d %12" PRIu64 " %s\n", "?", "?", (int)found->holder, found->whole.size,
               state);
        return;
    }
    printf("%-6s ", kind_names[found->kind]);
    name_print(found->name[0] != '\0' ? found->name : "(node)");
    printf(" %8" PRIu32 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %5" PRIu64, found->pid,
           found->whole.size, found->used.size, found->garbage_bytes, found->generation);
    if (state != NULL) {
        printf("  %s", state);
    }
    if (state != NULL && found->successor != SX_MEM_ENDED) {
        printf(" by %" PRIu64, found->successor);
    }
    if ((pid_t)found->pid != found->holder) {
        printf("  held by %d", (int)found->holder);
    }
    if (nodes) {
        printf("  nodes ");
        nodes_print(&found->used, false);
    }
    putchar('\n');
}

static void json_print(const struct found *found, bool nodes)
{
    const char *const state = state_of(found);

    printf("{\"kind\":\"%s\",\"holder\":%d,\"size\":%" PRIu64,
           found->used.size == 0 ? "unknown" : kind_names[found->kind], (int)found->holder,
           found->whole.size);
    if (found->used.size != 0) {
        printf(",\"name\":");
        sx_json_string(found->name, strlen(found->name));
        printf(",\"pid\":%" PRIu32 ",\"used\":%" PRIu64 ",\"garbage\":%" PRIu64
               ",\"generation\":%" PRIu64,
               found->pid, found->used.size, found->garbage_bytes, found->generation);
    }
    if (nodes && found->used.size != 0) {
        printf(",\"nodes\":{");
        nodes_print(&found->used, true);
        putchar('}');
    }
    if (state != NULL) {
        printf(",\"state\":\"%s\"", state);
    }
    printf("}\n");
}

static void dump(const struct scan *scan, struct found *found)
{
    if (found->used.size == 0) {
        return;
    }
    switch (found->kind) {
    case KIND_STORE:
        sx_mem_store_dump(found->used);
        break;
    case KIND_RING:
        sx_mem_ring_dump(found->used);
        break;
    case KIND_BOARD:
        sx_mem_board_dump(found->used);
        break;
    case KIND_OPS:
        sx_mem_ops_dump(found->used);
        break;
    default:
        sx_mem_lane_dump(found->used, board_of(scan, found));
        break;
    }
}

/* Whether @found belongs to the job, or to its server and no job. */
static bool is_of_job(const struct scan *scan, const struct found *found, const char *nspace)
{
    if (found->used.size == 0) {
        return false;
    }
    const bool is_of_server = found->kind == KIND_BOARD || found->kind == KIND_LANE ||
                              found->kind == KIND_OPS;

    if (strcmp(found->name, nspace) == 0) {
        return true;
    }
    for (size_t i = 0; i < scan->count; i++) {
        const struct found *const other = &scan->found[i];

        if (is_of_server && other->used.size != 0 && other->pid == found->pid &&
            strcmp(other->name, nspace) == 0) {
            return true;
        }
    }
    return false;
}

static int say_nothing_found(const struct scan *scan, const struct wish *wish)
{
    const char *const hidden = scan->denied ? " in your processes (root sees all)" : "";

    if (wish->whose.pid != 0) {
        sx_say("process %d %s", (int)wish->whose.pid,
               !scan->existed ? "does not exist"
               : scan->denied ? "can be inspected by its user and root only"
                              : "has no segments of shmix");
    } else if (wish->whose.nspace != NULL) {
        sx_say("no segments of a job %.255s%s; 'shmix mem' lists what there is", wish->whose.nspace,
               hidden);
    } else {
        sx_say("no segments%s", hidden);
        return 0;
    }
    return SX_EXIT_FAILURE;
}

static int print_all(const struct scan *scan, const struct wish *wish)
{
    size_t printed = 0;

    for (size_t i = 0; i < scan->count; i++) {
        if (wish->whose.nspace != NULL && !is_of_job(scan, &scan->found[i], wish->whose.nspace)) {
            continue;
        }
        if (wish->json) {
            json_print(&scan->found[i], wish->nodes);
        } else {
            if (printed == 0) {
                printf("%-6s %-24s %8s %12s %12s %12s %5s\n", "KIND", "NAME", "PID", "SIZE", "USED",
                       "GARBAGE", "GEN");
            }
            line_print(&scan->found[i], wish->nodes);
        }
        if (wish->dump) {
            dump(scan, &scan->found[i]);
        }
        printed++;
    }
    if (printed == 0) {
        return say_nothing_found(scan, wish);
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct sx_option rows[] = {
    SX_WHOSE_WORD_ROW(struct wish, whose),
    { "--dump", NULL, NULL, NULL, NULL,
      "print everything in them: stores with all keys and values, rings with their records, "
      "boards, lanes and open operations",
      sx_option_flag, offsetof(struct wish, dump), false },
    { "--nodes", NULL, NULL, NULL, NULL,
      "tell how many pages of what is in use lie on each NUMA node: \"nodes 0:3 2:17\"",
      sx_option_flag, offsetof(struct wish, nodes), false },
    { "--json", NULL, NULL, NULL, NULL, "one JSON object a line", sx_option_flag,
      offsetof(struct wish, json), false },
    { .help = "whose:" },
    SX_WHOSE_ROWS(struct wish, whose),
};

static const char about[] =
    "usage: shmix mem [--dump | --json] [--nodes] [NAMESPACE | PID]\n"
    "\n"
    "List the shared memory segments of shmix servers: those of the job NAMESPACE with the board\n"
    "and the lanes of its server, those of the process PID, or those of every process that you\n"
    "may inspect. Reads memory only, so a server that hangs or is stopped can be looked at.\n"
    "\n";

static const char more[] =
    "\n"
    "examples:\n"
    "  shmix mem                       all segments, one a line\n"
    "  shmix mem --dump 4711           everything that the server 4711 has published\n"
    "  shmix mem --json | jq .used     how much each takes\n"
    "  shmix mem --nodes               where it lies\n"
    "\n"
    "docs/layout.md describes the format.\n";

const struct sx_verb sx_mem_verb = {
    .name = "shmix mem",
    .try_begin = "shmix mem",
    .try_end = "",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

int sx_cli_mem(char **words)
{
    struct scan scan = { .found = NULL };
    struct wish wish = { .dump = false };
    int code = sx_options_take(&sx_mem_verb, &wish, NULL, &words);

    if (code == SX_OPTIONS_TAKEN && wish.dump && wish.json) {
        code = sx_options_refuse(&sx_mem_verb, "--json",
                                 "--dump is for people and has no JSON: leave one of the two out");
    }
    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (!sx_proc_check() || !sx_whose_settle(&wish.whose)) {
        return SX_EXIT_FAILURE;
    }
    if (wish.whose.pid != 0) {
        scan_process(&scan, wish.whose.pid);
    } else {
        scan_all(&scan);
    }
    code = print_all(&scan, &wish);
    for (size_t i = 0; i < scan.count; i++) {
        munmap((void *)(uintptr_t)scan.found[i].whole.at, scan.found[i].whole.size);
    }
    free(scan.found);
    return code;
}
