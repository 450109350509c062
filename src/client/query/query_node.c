/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_node.c - what this process reads of its node: devices as the topology has them, usage as
 * PMIx_Process_monitor reports it, and the mounted file systems. */
#include "client/query/query.h"

#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include <pmix.h>

#include "base/util.h"
#include "base/value/value.h"
#include "client/data/data.h"
#include "client/link/link.h"
#include "client/manage/manage.h"

/* ---- devices --------------------------------------------------------------------------------- */

/* The qualifiers that select devices; the others are not about devices.  Return: NULL when memory
 * is out. */
static pmix_info_t *filters_pick(const pmix_query_t *query, size_t *ret_count)
{
    pmix_info_t *const picked = calloc(query->nqual + 1, sizeof(*picked));

    for (size_t i = 0; picked != NULL && i < query->nqual; i++) {
        if (PMIx_Check_key(query->qualifiers[i].key, PMIX_DEVICE_TYPE) ||
            PMIx_Check_key(query->qualifiers[i].key, PMIX_DEVICE_ID)) {
            picked[(*ret_count)++] = query->qualifiers[i];
        }
    }
    return picked;
}

/* The properties that the query returns of a device are in its distance. */
static pmix_status_t devices_move(pmix_device_distance_t *distances, size_t count,
                                  pmix_value_t *ret)
{
    pmix_data_array_t *const array = PMIx_Data_array_create(count, PMIX_DEVICE);

    if (array == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < count; i++) {
        ((pmix_device_t *)array->array)[i] = (pmix_device_t){ .uuid = distances[i].uuid,
                                                              .osname = distances[i].osname,
                                                              .type = distances[i].type };
        distances[i].uuid = distances[i].osname = NULL;
    }
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}

pmix_status_t sx_query_devices(const struct sx_question *question, pmix_value_t *ret)
{
    pmix_device_distance_t *distances = NULL;
    size_t count = 0, filter_count = 0;
    pmix_info_t *const filters = filters_pick(question->query, &filter_count);

    if (filters == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pmix_status_t rc = PMIx_Compute_distances(NULL, NULL, filters, filter_count, &distances,
                                              &count);

    free(filters);
    if (rc == PMIX_SUCCESS) {
        rc = devices_move(distances, count, ret);
        PMIx_Device_distance_free(distances, count);
    }
    return rc == PMIX_SUCCESS || rc == PMIX_ERR_OUT_OF_RESOURCE ? rc : PMIX_ERR_NOT_FOUND;
}

/* ---- usage ----------------------------------------------------------------------------------- */

pmix_status_t sx_query_usage(const struct sx_question *question, const char *node,
                             pmix_value_t *ret)
{
    const bool of_node = PMIx_Check_key(question->key, PMIX_QUERY_NODE_RESOURCE_USAGE);
    const pmix_proc_t target = sx_query_proc(question->options, &sx_process.self);
    char hostname[256];

    sx_hostname(hostname, sizeof(hostname));
    if (node != NULL && strcmp(node, hostname) != 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    return sx_usage_report(of_node ? PMIX_MONITOR_NODE_RESOURCE_USAGE
                                   : PMIX_MONITOR_PROC_RESOURCE_USAGE,
                           &target, question->ask, ret);
}

/* ---- file systems ---------------------------------------------------------------------------- */

/* The mounted file systems of this node: a row for each property.
 *
 * A storage system is named by its mount point.  Only the one that is asked about is touched: a
 * file system of a lost server would block the caller. */

#define MOUNTS "/proc/self/mounts"
#define MEGA 1000000.0
#define KILO 1000.0

struct storage {
    char path[4096], type[64];
    struct statvfs numbers;
};

/* ---- the list -------------------------------------------------------------------------------- */

/* These file systems keep no user data. */
static bool keeps_nothing(const char *type)
{
    static const char *const types[] = {
        "autofs", "binfmt_misc", "bpf",        "cgroup",     "cgroup2",   "configfs", "debugfs",
        "devpts", "devtmpfs",    "efivarfs",   "fusectl",    "hugetlbfs", "mqueue",   "nsfs",
        "proc",   "pstore",      "rpc_pipefs", "securityfs", "selinuxfs", "sysfs",    "tracefs",
    };

    for (size_t i = 0; i < SX_COUNT(types); i++) {
        if (strcmp(type, types[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* A comma separates two names of a list. */
static bool counts(const struct mntent *mount)
{
    return !keeps_nothing(mount->mnt_type) && strchr(mount->mnt_dir, ',') == NULL;
}

/* Call @each for each file system; @each returns false to stop. */
static void mounts_walk(bool (*each)(void *arg, const struct mntent *mount), void *arg)
{
    char text[8192];
    struct mntent mount;
    FILE *const file = setmntent(MOUNTS, "re");

    while (file != NULL && getmntent_r(file, &mount, text, sizeof(text)) != NULL &&
           (!counts(&mount) || each(arg, &mount))) {
    }
    if (file != NULL) {
        endmntent(file);
    }
}

static bool name_add(void *arg, const struct mntent *mount)
{
    char ***const names = arg;

    return PMIx_Argv_append_unique_nosize(names, mount->mnt_dir) == PMIX_SUCCESS;
}

static pmix_status_t list_answer(pmix_value_t *ret)
{
    char **names = NULL;

    mounts_walk(name_add, &names);
    if (names == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = (pmix_value_t){ .type = PMIX_STRING, .data.string = PMIx_Argv_join(names, ',') };
    PMIx_Argv_free(names);
    return ret->data.string != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* ---- the one that is meant ------------------------------------------------------------------- */

struct search {
    const char *path;
    bool exact;  /* only the mount point itself matches, not a path below it */
    size_t best; /* bytes of the longest name that contains the path */
    struct storage *storage;
};

/* Of file systems that are mounted over each other only the last one is visible. */
static bool mount_match(void *arg, const struct mntent *mount)
{
    struct search *const search = arg;
    const size_t len = strlen(mount->mnt_dir);
    const bool is_root = len == 1;
    const bool is_same = strcmp(search->path, mount->mnt_dir) == 0;
    const bool contains = is_same ||
                          (!search->exact && strncmp(search->path, mount->mnt_dir, len) == 0 &&
                           (is_root || search->path[len] == '/'));

    if (contains && len >= search->best && len < sizeof(search->storage->path) &&
        strlen(mount->mnt_type) < sizeof(search->storage->type)) {
        search->best = len;
        strcpy(search->storage->path, mount->mnt_dir);
        strcpy(search->storage->type, mount->mnt_type);
    }
    return true;
}

static bool storage_find(const struct sx_query_options *options, struct storage *ret)
{
    char real[4096];
    struct search search = { .path = options->storage,
                             .exact = options->storage != NULL,
                             .storage = ret };

    if (search.path == NULL) {
        search.path = realpath(options->storage_path, real);
    }
    *ret = (struct storage){ .path = "" };
    if (search.path != NULL) {
        mounts_walk(mount_match, &search);
    }
    return search.best > 0 && statvfs(ret->path, &ret->numbers) == 0;
}

/* ---- properties ------------------------------------------------------------------------------ */

/* Each returns false when the file system has no such figure. */

static bool path_get(const struct storage *storage, pmix_value_t *ret)
{
    return sx_value_load(ret, storage->path, PMIX_STRING) == PMIX_SUCCESS;
}

static bool type_get(const struct storage *storage, pmix_value_t *ret)
{
    return sx_value_load(ret, storage->type, PMIX_STRING) == PMIX_SUCCESS;
}

static bool medium_get(const struct storage *storage, pmix_value_t *ret)
{
    const bool is_memory = strcmp(storage->type, "tmpfs") == 0 ||
                           strcmp(storage->type, "ramfs") == 0;
    const pmix_storage_medium_t medium = is_memory ? PMIX_STORAGE_MEDIUM_RAM
                                                   : PMIX_STORAGE_MEDIUM_UNKNOWN;

    return sx_value_load(ret, &medium, PMIX_STOR_MEDIUM) == PMIX_SUCCESS;
}

static bool access_get(const struct storage *storage, pmix_value_t *ret)
{
    const pmix_storage_access_type_t type = (storage->numbers.f_flag & ST_RDONLY) != 0
                                                ? PMIX_STORAGE_ACCESS_RD
                                                : PMIX_STORAGE_ACCESS_RDWR;

    return sx_value_load(ret, &type, PMIX_STOR_ACCESS_TYPE) == PMIX_SUCCESS;
}

static bool limit_get(const struct storage *storage, pmix_value_t *ret)
{
    const struct statvfs *const it = &storage->numbers;

    *ret = (pmix_value_t){ .type = PMIX_UINT64 };
    ret->data.uint64 = (uint64_t)((double)it->f_blocks * (double)it->f_frsize / MEGA);
    return it->f_blocks > 0;
}

static bool used_get(const struct storage *storage, pmix_value_t *ret)
{
    const struct statvfs *const it = &storage->numbers;

    *ret = (pmix_value_t){ .type = PMIX_DOUBLE };
    ret->data.dval = (double)(it->f_blocks - it->f_bfree) * (double)it->f_frsize / MEGA;
    return it->f_blocks > 0;
}

static bool objects_get(const struct storage *storage, pmix_value_t *ret)
{
    *ret = (pmix_value_t){ .type = PMIX_UINT64, .data.uint64 = storage->numbers.f_files };
    return storage->numbers.f_files > 0;
}

static bool objects_used_get(const struct storage *storage, pmix_value_t *ret)
{
    const struct statvfs *const it = &storage->numbers;

    *ret = (pmix_value_t){ .type = PMIX_UINT64, .data.uint64 = it->f_files - it->f_ffree };
    return it->f_files > 0;
}

static bool smallest_get(const struct storage *storage, pmix_value_t *ret)
{
    *ret = (pmix_value_t){ .type = PMIX_DOUBLE };
    ret->data.dval = (double)storage->numbers.f_frsize / KILO;
    return storage->numbers.f_frsize > 0;
}

static bool best_get(const struct storage *storage, pmix_value_t *ret)
{
    *ret = (pmix_value_t){ .type = PMIX_DOUBLE };
    ret->data.dval = (double)storage->numbers.f_bsize / KILO;
    return storage->numbers.f_bsize > 0;
}

static const struct {
    const char *key;
    bool (*get)(const struct storage *storage, pmix_value_t *ret);
} rows[] = {
    { PMIX_STORAGE_ID, path_get },
    { PMIX_STORAGE_PATH, path_get },
    { PMIX_STORAGE_TYPE, type_get },
    { PMIX_STORAGE_MEDIUM, medium_get },
    { PMIX_STORAGE_ACCESS_TYPE, access_get },
    { PMIX_STORAGE_CAPACITY_LIMIT, limit_get },
    { PMIX_STORAGE_CAPACITY_USED, used_get },
    { PMIX_STORAGE_OBJECT_LIMIT, objects_get },
    { PMIX_STORAGE_OBJECTS_USED, objects_used_get },
    { PMIX_STORAGE_MINIMAL_XFER_SIZE, smallest_get },
    { PMIX_STORAGE_SUGGESTED_XFER_SIZE, best_get },
};

pmix_status_t sx_query_storage(const struct sx_question *question, pmix_value_t *ret)
{
    const struct sx_query_options *const options = question->options;
    struct storage storage;
    size_t i = 0;

    if (strcmp(question->key, PMIX_QUERY_STORAGE_LIST) == 0) {
        return list_answer(ret);
    }
    if ((options->storage == NULL && options->storage_path == NULL) ||
        !storage_find(options, &storage)) {
        return PMIX_ERR_NOT_FOUND;
    }
    while (i < SX_COUNT(rows) && strcmp(question->key, rows[i].key) != 0) {
        i++;
    }
    return i < SX_COUNT(rows) && rows[i].get(&storage, ret) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}
