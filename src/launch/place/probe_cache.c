/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* probe_cache.c - a hash of what hwloc would read, and a search through the stores of launchers. */
#define XXH_INLINE_ALL
#include "launch/place/probe_cache.h"

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
#include "base/system/topology.h"
#include "launch/common/say.h"
#include "launch/common/stores.h"

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
