/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* device_probe.c - one pipe from the process, and a text of any length through it. */
#include "launch/place/device_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system/process.h"
#include "base/system/topology.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/record.h"
#include "launch/job/state.h"
#include "launch/pmi/host.h"
#include "launch/pmi/upcall.h"

#define ROOM_FIRST 65536u
#define TEXT_BYTES_MAX (64u << 20)
#define AWAIT_NS (2 * SX_NS_PER_SEC)
#define END_NS SX_NS_PER_SEC /* for a process that has been killed */
#define IDLE_MS 10 /* the time after all starts; then the probe begins, even if nobody asks */

/* Values that are added to asked_fd, a semaphore.  The process takes 1 at the first event, and then
 * waits for more.  After NOTIFIED_ASKED there is more already, so this wait ends at once. */
#define NOTIFIED_STARTED UINT64_C(1)
#define NOTIFIED_ASKED UINT64_C(2)

/* ---- the process ----------------------------------------------------------------------------- */

/* Return: the text, or another launcher's if there is one; NULL when there is none. */
static char *text_obtain(const struct sx_session *session, const char *sign, pid_t *ret_launcher)
{
    char *xml = sign != NULL ? sx_run_known_find(session, sign, ret_launcher) : NULL;
    hwloc_topology_t topology;

    if (xml == NULL && (sx_topology_discover(&topology) != PMIX_SUCCESS ||
                        sx_topology_write(topology, &xml) != PMIX_SUCCESS)) {
        return NULL;
    }
    return xml;
}

/* Wait until a client has connected that may ask.  Programs without PMIx keep their CPUs meanwhile,
 * and so do ranks that are still to be started. */
static void await_askers(int asked_fd)
{
    struct pollfd poll_fd = { .fd = asked_fd, .events = POLLIN };
    uint64_t one;

    if (asked_fd >= 0) {
        (void)poll(&poll_fd, 1, -1);
        (void)!read(asked_fd, &one, sizeof(one));
        (void)poll(&poll_fd, 1, IDLE_MS);
    }
}

#define TEXT_FD (STDERR_FILENO + 1)
#define ASKED_FD (TEXT_FD + 1)

/* Keep two descriptors under these numbers, and nothing else: a device that hangs holds the
 * launcher's streams no longer than the launcher lives.  Return: false if that is not possible. */
static bool descriptors_keep(int fd, int asked_fd)
{
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    /* Above the numbers that are overwritten. */
    const int text = fcntl(fd, F_DUPFD_CLOEXEC, ASKED_FD + 1);
    const int asked = fcntl(asked_fd, F_DUPFD_CLOEXEC, ASKED_FD + 1);
    bool good = null_fd >= 0 && text >= 0 && dup2(text, TEXT_FD) >= 0;

    for (int i = 0; i <= STDERR_FILENO && good; i++) {
        good = dup2(null_fd, i) >= 0;
    }
    sx_descriptors_close_from(good && asked >= 0 && dup2(asked, ASKED_FD) >= 0 ? ASKED_FD + 1
                                                                               : ASKED_FD);
    return good;
}

__attribute__((noreturn)) static void look_main(int fd, int asked_fd, pid_t launcher,
                                                const struct sx_session *session)
{
    pid_t from = 0; /* 0: this launcher */
    size_t done = 0;

    prctl(PR_SET_NAME, "shmix-look", 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) {
        _exit(SX_EXIT_FAILURE); /* the launcher died before PR_SET_PDEATHSIG */
    }
    if (!descriptors_keep(fd, asked_fd)) {
        _exit(SX_EXIT_FAILURE);
    }
    await_askers(asked_fd < 0 ? -1 : ASKED_FD);
    const char *const sign = sx_run_known_sign();

    (void)sx_run_plugins_spare();
    const char *const xml = text_obtain(session, sign, &from);
    if (xml == NULL) {
        _exit(SX_EXIT_FAILURE);
    }
    const char *const all = sx_cli_printf("%ld %s\n%s", (long)from, sign != NULL ? sign : "", xml);

    for (const size_t size = strlen(all) + 1; done < size;) { /* the NUL marks a whole text */
        const ssize_t wrote = write(TEXT_FD, all + done, size - done);

        if (wrote < 0 && errno != EINTR) {
            break;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    _exit(0);
}

void sx_run_look_begin(struct sx_run_look *look, struct sx_run_machine *machine,
                       const struct sx_session *session)
{
    const pid_t launcher = getpid();
    int pair[2];

    *look = SX_RUN_LOOK_NULL;
    look->machine = machine;
    machine->is_looked_at = true;
    if (pipe2(pair, O_CLOEXEC) != 0) {
        return;
    }
    look->asked_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    const pid_t pid = fork();

    if (pid == 0) {
        close(pair[0]);
        look_main(pair[1], look->asked_fd, launcher, session);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return;
    }
    (void)fcntl(pair[0], F_SETFL, O_NONBLOCK);
    look->pid = pid;
    look->watch.fd = pair[0];
}

static void left_say(pid_t pid)
{
    struct sx_proc_hang hang;

    (void)sx_proc_works(pid, &hang);
    sx_say("SIGKILL does not end process %ld of this launcher, which looks for the machine's "
           "devices, and is in state %c%s%s%s: nobody waits for it any more",
           (long)pid, hang.state == '\0' ? '?' : hang.state, hang.where[0] != '\0' ? " (" : "",
           hang.where, hang.where[0] != '\0' ? ")" : "");
}

void sx_run_look_end(const struct sx_run_look *look)
{
    if (look->pid > 0) {
        kill(look->pid, SIGKILL);
    }
}

void sx_run_look_deinit(struct sx_run_look *look)
{
    if (look->pid > 0 && !sx_proc_kill(look->pid, END_NS)) {
        left_say(look->pid);
    }
    if (look->watch.fd >= 0) {
        close(look->watch.fd);
    }
    if (look->asked_fd >= 0) {
        close(look->asked_fd);
    }
    free(look->text);
    *look = SX_RUN_LOOK_NULL;
}

/* ---- the text of the probe ------------------------------------------------------------------- */

/* A line precedes the text: the launcher whose text it is, and the sign.  Return: false when the
 * text is not whole. */
static bool text_take(struct sx_run_look *look, long *ret_launcher)
{
    const bool is_whole = look->used > 0 && look->text[look->used - 1] == '\0';
    char *const end = is_whole ? strchr(look->text, '\n') : NULL;
    char *sign;

    if (end == NULL) {
        return false;
    }
    *end = '\0';
    *ret_launcher = strtol(look->text, &sign, 10);
    look->machine->sign = *sign == ' ' && sign[1] != '\0' ? sx_cli_strdup(sign + 1) : NULL;
    look->machine->xml = sx_cli_strdup(end + 1);
    return true;
}

static void known(struct sx_run_look *look)
{
    struct sx_run_state *const run = look->run;
    long launcher = 0;

    if (!text_take(look, &launcher)) {
        (void)sx_topology_write(look->machine->topology, &look->machine->xml);
    }
    look->machine->is_looked_at = false;
    if (run == NULL) {
        return;
    }
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        if (run->jobs->at[i]->state != SX_RUN_OVER) {
            sx_run_host_notify_topology(run->jobs->at[i], look->machine);
        }
    }
    if (launcher != 0) {
        sx_run_step(run, "the machine's devices are known: process %ld has looked", launcher);
    } else {
        sx_run_step(run, "the machine's devices are known");
    }
}

static void text_end(struct sx_run_look *look)
{
    const int fd = look->watch.fd;

    sx_run_unwatch(&look->watch);
    close(fd);
    known(look);
}

/* Return: false when there is nothing more to read now. */
static bool text_read(struct sx_run_look *look)
{
    if (look->used == look->room) {
        look->room = look->room == 0 ? ROOM_FIRST : 2 * look->room;
        look->text = sx_cli_realloc(look->text, look->room, 1);
    }
    const ssize_t got = read(look->watch.fd, look->text + look->used, look->room - look->used);

    if (got > 0 && look->used + (size_t)got <= TEXT_BYTES_MAX) {
        look->used += (size_t)got;
        return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return false;
    }
    text_end(look);
    return false;
}

static void readable(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_run_look *const look = arg;

    (void)revents;
    (void)now_ns;
    while (text_read(look)) {
    }
}

static void notify(const struct sx_run_look *look, uint64_t what)
{
    (void)!write(look->asked_fd, &what, sizeof(what));
}

void sx_run_look_started(const struct sx_run_look *look)
{
    notify(look, NOTIFIED_STARTED);
}

void sx_run_look_await(struct sx_run_look *look)
{
    uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), AWAIT_NS);
    struct pollfd poll_fd = { .events = POLLIN };
    bool is_killed = false;

    notify(look, NOTIFIED_ASKED);
    while ((poll_fd.fd = look->watch.fd) >= 0) {
        const uint64_t now_ns = sx_now_ns();

        if (now_ns >= deadline_ns && (is_killed || look->pid == 0)) {
            text_end(look); /* the kernel keeps the process */
            return;
        }
        if (now_ns >= deadline_ns) {
            is_killed = true;
            kill(look->pid, SIGKILL); /* ends the pipe too */
            deadline_ns = sx_deadline_ns(now_ns, END_NS);
        }
        (void)poll(&poll_fd, 1, (int)((deadline_ns - now_ns) / SX_NS_PER_MS) + 1);
        readable(look, 0, now_ns);
    }
}

int sx_run_look_open(struct sx_run_look *look, struct sx_run_state *run)
{
    if (look->machine == NULL) {
        return 0; /* it is known */
    }
    look->run = run;
    sx_run_upcall_notify_come(look->asked_fd, NOTIFIED_ASKED, run->setup->options->rank_count);
    look->watch.fn = readable;
    look->watch.arg = look;
    if (look->watch.fd < 0) {
        known(look);
        return 0;
    }
    return sx_run_watch(&run->loop, &look->watch, POLLIN);
}

/* ---- probe cache ----------------------------------------------------------------------------- */

/* A hash of what hwloc would read, and a search through the stores of launchers. */

#define XXH_INLINE_ALL

#include <dirent.h>
#include <hwloc.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/call/directive_tables.h"
#include "launch/common/segments_of_others.h"

#define LAUNCHERS_MAX 32

/* ---- the key of a probe ---------------------------------------------------------------------- */

static const char *const links[] = { "/proc/self/ns/mnt", "/proc/self/ns/net", "/proc/self/ns/uts",
                                     "/proc/self/ns/cgroup" };

/* The lines of a file that begin with the word are hashed; "": all lines. */
static const struct {
    const char *path, *word;
} files[] = {
    { "/proc/self/cgroup", "" },
    { "/proc/self/status", "Cpus_allowed_list" },
    { "/proc/self/status", "Mems_allowed_list" },
    { "/sys/devices/system/cpu/online", "" },
    { "/sys/devices/system/node/online", "" },
};

static const char *const folders[] = { "/sys/bus/pci/devices", "/sys/class/net", "/sys/class/block",
                                       "/sys/class/drm", "/sys/class/infiniband" };

static void text_add(XXH3_state_t *state, const char *text)
{
    XXH3_64bits_update(state, text, strlen(text) + 1);
}

static void link_add(XXH3_state_t *state, const char *path)
{
    char text[128];
    const ssize_t len = readlink(path, text, sizeof(text) - 1);

    text[len > 0 ? len : 0] = '\0';
    text_add(state, text);
}

static void file_add(XXH3_state_t *state, const char *path, const char *word)
{
    char line[4096];
    FILE *const file = fopen(path, "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, word, strlen(word)) == 0) {
            text_add(state, line);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    text_add(state, path);
}

static void folder_add(XXH3_state_t *state, const char *path)
{
    DIR *const dir = opendir(path);
    const struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        text_add(state, entry->d_name);
    }
    if (dir != NULL) {
        closedir(dir);
    }
    text_add(state, path);
}

static bool environment_says(void)
{
    for (char **word = environ; *word != NULL; word++) {
        if (strncmp(*word, "HWLOC_", strlen("HWLOC_")) == 0) {
            return true;
        }
    }
    return false;
}

char *sx_run_known_sign(void)
{
    XXH3_state_t *const state = XXH3_createState();
    char *sign = NULL;

    if (state == NULL || environment_says()) {
        XXH3_freeState(state);
        return NULL;
    }
    XXH3_64bits_reset(state);
    text_add(state, SHMIX_VERSION);
    for (size_t i = 0; i < SX_COUNT(links); i++) {
        link_add(state, links[i]);
    }
    for (size_t i = 0; i < SX_COUNT(files); i++) {
        file_add(state, files[i].path, files[i].word);
    }
    for (size_t i = 0; i < SX_COUNT(folders); i++) {
        folder_add(state, folders[i]);
    }
    sign = sx_cli_printf("%x.%016" PRIx64, hwloc_get_api_version(), XXH3_64bits_digest(state));
    XXH3_freeState(state);
    return sign;
}

/* ---- texts of other launchers ---------------------------------------------------------------- */

struct search {
    const char *sign;
    char *xml;
    pid_t launcher; /* the launcher whose text it is */
    uint32_t launcher_count;
};

/* Return: the text under the job's key in the store, with its NUL; NULL when there is none. */
static const char *text_of(const struct sx_store *store, const char *key, size_t *ret_size)
{
    struct sx_item item;
    const bool is_there = sx_store_find(store, SX_REALM_JOB, SX_ROW_JOB, key, &item) ==
                              PMIX_SUCCESS &&
                          item.cell.type == PMIX_STRING && item.cell.len > 0 &&
                          (item.cell.flags & SX_CELL_NULL) == 0;
    const char *const text = is_there ? item.body : NULL;

    if (text == NULL || text[item.cell.len - 1] != '\0') {
        return NULL;
    }
    *ret_size = item.cell.len;
    return text;
}

/* The text is copied and then checked, because the store belongs to another process. */
static void store_look(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct search *const search = arg;
    hwloc_topology_t topology;
    size_t sign_size = 0, size = 0;
    const char *const sign = text_of(store, SX_NSPACE_MACHINE, &sign_size);
    const char *const xml = text_of(store, sx_topology_keys[0], &size);

    (void)nspace;
    if (search->xml != NULL || sign == NULL || xml == NULL ||
        strncmp(sign, search->sign, sign_size) != 0) {
        return;
    }
    char *const copy = sx_cli_realloc(NULL, size, 1);

    memcpy(copy, xml, size);
    copy[size - 1] = '\0';
    if (sx_topology_read(copy, size, &topology) != PMIX_SUCCESS) {
        free(copy);
        return;
    }
    hwloc_topology_destroy(topology);
    search->xml = copy;
    search->launcher = server;
}

static bool launcher_look(void *arg, pid_t launcher)
{
    struct search *const search = arg;
    char path[32];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%ld", (long)launcher);
    if (stat(path, &st) == 0 && st.st_uid == geteuid()) {
        (void)sx_cli_stores_each(launcher, store_look, search);
    }
    return search->xml == NULL && ++search->launcher_count < LAUNCHERS_MAX;
}

char *sx_run_known_find(const struct sx_session *session, const char *sign, pid_t *ret_launcher)
{
    struct search search = { .sign = sign };

    sx_session_each_other(session, launcher_look, &search);
    if (search.xml != NULL) {
        *ret_launcher = search.launcher;
    }
    return search.xml;
}
