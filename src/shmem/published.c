/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* published.c - records of published values, made by the server and read by all processes of a
 * user.
 *
 * A reader bounds each offset by the record, and the record by the published end of the store. */
#include "shmem/published.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* ---- readers -------------------------------------------------------------------------------- */

pmix_status_t sx_published_session(const struct sx_store *store, struct sx_publish_who *asker)
{
    const char *const nspace = asker->proc.nspace;
    struct sx_item item;
    const pmix_status_t rc = sx_store_read(
        store, sx_store_column(store, SX_REALM_SESSION, nspace, strlen(nspace)), SX_ROW_JOB, &item);

    if (rc == PMIX_SUCCESS && item.cell.type != PMIX_UINT64) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (rc == PMIX_SUCCESS) {
        asker->session = item.cell.bits;
    }
    return rc;
}

/* Return: false when @entry refers to bytes outside of the record. */
static bool entry_read(const uint8_t *bytes, size_t size, const struct sx_published_entry *entry,
                       struct sx_published_seen *ret)
{
    if (entry->nspace_len > PMIX_MAX_NSLEN ||
        !sx_range_fits(entry->nspace_off, (uint64_t)entry->nspace_len + 1, size) ||
        !sx_range_fits(entry->cell.bits, entry->cell.len,
                       entry->cell.len == 0 ? UINT64_MAX : size)) {
        return false;
    }
    memcpy(ret->by.proc.nspace, bytes + entry->nspace_off, entry->nspace_len);
    ret->by.proc.nspace[entry->nspace_len] = '\0';
    ret->by.proc.rank = entry->rank;
    ret->by.session = entry->session;
    ret->serial = entry->serial;
    ret->cell = entry->cell;
    ret->body = entry->cell.len == 0 ? NULL : bytes + entry->cell.bits;
    return true;
}

pmix_status_t sx_published_see(const struct sx_store *store, const char *key, size_t key_len,
                               const struct sx_publish_who *asker,
                               const struct sx_lookup_options *options,
                               struct sx_published_seen *ret)
{
    struct sx_published_head head;
    struct sx_item item;
    const pmix_status_t rc = sx_store_read(store,
                                           sx_store_column(store, SX_REALM_PUBLISHED, key, key_len),
                                           SX_ROW_JOB, &item);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const size_t size = item.cell.len;

    if (item.body == NULL || size < sizeof(head)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    memcpy(&head, item.body, sizeof(head));
    if (head.entry_count > (size - sizeof(head)) / sizeof(struct sx_published_entry)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    for (uint32_t i = 0; i < head.entry_count; i++) {
        struct sx_published_entry entry;

        memcpy(&entry, (const uint8_t *)item.body + sizeof(head) + i * sizeof(entry),
               sizeof(entry));
        if (!entry_read(item.body, size, &entry, ret)) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
        if (sx_publish_range_holds((pmix_data_range_t)entry.range, &(struct sx_some_procs){ 0 },
                                   &ret->by, asker) &&
            sx_publish_range_holds(options->range, &options->targets, asker, &ret->by)) {
            return PMIX_SUCCESS;
        }
    }
    return PMIX_ERR_NOT_FOUND;
}

/* ---- the writer ----------------------------------------------------------------------------- */

/* Return: the length of the record, 0 when the values do not fit in one. */
static size_t record_size(const struct sx_published_shown shown[], size_t count, size_t sizes[])
{
    size_t size = sizeof(struct sx_published_head) + count * sizeof(struct sx_published_entry);

    if (count == 0 || count > SX_PUBLISHED_ENTRIES_MAX) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (sx_flat_size(shown[i].value, &sizes[i]) != PMIX_SUCCESS ||
            sizes[i] > SX_PUBLISHED_RECORD_MAX) {
            return 0;
        }
        size += sizes[i] + sx_align_up(strlen(shown[i].by->proc.nspace) + 1, 8);
    }
    return size <= SX_PUBLISHED_RECORD_MAX ? size : 0;
}

/* Fill zeroed @bytes. */
static pmix_status_t record_fill(uint8_t *bytes, const struct sx_published_shown shown[],
                                 size_t count, const size_t sizes[])
{
    const struct sx_published_head head = { .entry_count = (uint32_t)count };
    size_t end = sizeof(head) + count * sizeof(struct sx_published_entry);
    pmix_status_t rc = PMIX_SUCCESS;

    memcpy(bytes, &head, sizeof(head));
    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        const struct sx_publish_who *const by = shown[i].by;
        struct sx_published_entry entry = { .serial = shown[i].serial,
                                            .session = by->session,
                                            .range = shown[i].range,
                                            .rank = by->proc.rank,
                                            .nspace_len = (uint32_t)strlen(by->proc.nspace) };

        rc = sx_flat_encode(shown[i].value, &entry.cell, bytes + end, sizes[i]);
        if (entry.cell.len != 0) {
            entry.cell.bits = end;
        }
        end += sizes[i];
        entry.nspace_off = (uint32_t)end;
        memcpy(bytes + end, by->proc.nspace, entry.nspace_len);
        end += sx_align_up(entry.nspace_len + 1, 8);
        memcpy(bytes + sizeof(head) + i * sizeof(entry), &entry, sizeof(entry));
    }
    return rc;
}

pmix_status_t sx_published_show(struct sx_store_writer *writer, const char *key,
                                const struct sx_published_shown shown[], size_t count)
{
    size_t sizes[SX_PUBLISHED_ENTRIES_MAX];
    const size_t size = record_size(shown, count, sizes);
    uint8_t *const bytes = size != 0 ? calloc(1, size) : NULL;
    const struct sx_cell cell = { .type = PMIX_BYTE_OBJECT, .len = (uint32_t)size };
    pmix_status_t rc = size != 0 && bytes == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;

    if (bytes != NULL) {
        rc = record_fill(bytes, shown, count, sizes);
    }
    if (bytes != NULL && rc == PMIX_SUCCESS) {
        rc = sx_store_put_flat(writer, SX_REALM_PUBLISHED, SX_ROW_JOB, key, PMIX_SCOPE_UNDEF, &cell,
                               bytes);
    }
    if (bytes == NULL || rc != PMIX_SUCCESS) { /* the former record is outdated */
        (void)sx_store_unset(writer, SX_REALM_PUBLISHED, SX_ROW_JOB, key);
    }
    free(bytes);
    return rc;
}

pmix_status_t sx_published_session_show(struct sx_store_writer *writer, const char *nspace,
                                        uint64_t session)
{
    const pmix_value_t value = { .type = PMIX_UINT64, .data.uint64 = session };
    const pmix_status_t rc = sx_store_put(writer, SX_REALM_SESSION, SX_ROW_JOB, nspace,
                                          PMIX_SCOPE_UNDEF, &value);

    if (rc != PMIX_SUCCESS) {
        sx_published_session_hide(writer, nspace);
    }
    return rc;
}

void sx_published_session_hide(struct sx_store_writer *writer, const char *nspace)
{
    (void)sx_store_unset(writer, SX_REALM_SESSION, SX_ROW_JOB, nspace);
}
