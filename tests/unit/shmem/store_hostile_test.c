/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_hostile_test.c - a store that contradicts itself earns a status, never a crash.
 *
 * A sound store is copied into a memfd of our own, spoiled there, and read through the front
 * door.  The sanitizers and the end of the mapping see to it that no read strays. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/value/value.h"
#include "shmem/store_layout.h"
#include "store_util.h"

#define IMAGE_BYTES (64u << 10)

static uint8_t sound[IMAGE_BYTES];
static const char *const keys[] = { "single", "many", "job", "moved", "gone" };

static void test_sound(void)
{
    struct sx_store_writer writer;

    test_store_create(&writer, 20, IMAGE_BYTES, false);
    cr_assert_eq(test_put_text(&writer, 3, "single", 100, 1), PMIX_SUCCESS);
    cr_assert_eq(test_put_text(&writer, SX_ROW_JOB, "job", 60, 2), PMIX_SUCCESS);
    for (uint32_t row = 0; row < 20; row++) {
        cr_assert_eq(test_put_text(&writer, row, "many", 30 + row, row), PMIX_SUCCESS);
        cr_assert_eq(test_put_text(&writer, row, "moved", 30 + row, row), PMIX_SUCCESS);
        cr_assert_eq(test_put_text(&writer, row, "moved", 30 + row, row + 1), PMIX_SUCCESS);
        cr_assert_eq(test_put_text(&writer, row, "gone", 30, row), PMIX_SUCCESS);
        cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, row, "gone"), PMIX_SUCCESS);
    }
    cr_assert_eq(writer.view.seg.size_bytes, IMAGE_BYTES);
    memcpy(sound, writer.view.seg.base, IMAGE_BYTES);
    sx_store_destroy(&writer);
}

static pmix_status_t test_image_attach(struct sx_store *store, const uint8_t *image)
{
    const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    cr_assert_geq(fd, 0);
    cr_assert_eq(ftruncate(fd, IMAGE_BYTES), 0);
    cr_assert_eq(pwrite(fd, image, IMAGE_BYTES, 0), IMAGE_BYTES);
    cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    const pmix_status_t rc = sx_store_attach(store, fd);
    close(fd);
    return rc;
}

static bool test_each_any(void *arg, const char *key, const struct sx_item *item)
{
    uint64_t *const sum = arg;

    *sum += strlen(key);
    for (uint32_t i = 0; i < item->cell.len; i++) {
        *sum += ((const uint8_t *)item->body)[i];
    }
    return true;
}

static void test_read_all(const struct sx_store *store)
{
    static const uint32_t rows[] = { SX_ROW_JOB, 0, 3, 19, 20, 255, SX_STORE_ROW_MAX };
    uint64_t sum = 0;

    for (size_t r = 0; r < SX_COUNT(rows); r++) {
        for (size_t k = 0; k < SX_COUNT(keys); k++) {
            pmix_value_t value;
            const pmix_status_t rc = sx_store_get(store, SX_REALM_JOB, rows[r], keys[k], &value);
            if (rc == PMIX_SUCCESS) {
                sx_value_destruct(&value);
            }
        }
        sx_store_each(store, SX_REALM_JOB, rows[r], test_each_any, &sum);
    }
    (void)sx_store_successor(store);
}

Test(store_hostile, random_damage_is_survived)
{
    static uint8_t image[IMAGE_BYTES];
    unsigned attached = 0;

    test_sound();
    const uint64_t end = sx_segment_header(&(struct sx_segment){ .base = sound })->used_bytes;
    srand(4711);
    for (unsigned round = 0; round < 3000; round++) {
        memcpy(image, sound, sizeof(image));
        const unsigned hits = 1 + (unsigned)rand() % 64;
        for (unsigned i = 0; i < hits; i++) {
            image[SX_SEGMENT_BODY_OFF + (uint64_t)rand() % (end - SX_SEGMENT_BODY_OFF)] = (uint8_t)
                rand();
        }
        struct sx_store store;
        if (test_image_attach(&store, image) == PMIX_SUCCESS) {
            attached++;
            test_read_all(&store);
            sx_store_detach(&store);
        }
    }
    cr_expect_gt(attached, 1000);
}

Test(store_hostile, random_bytes_are_survived)
{
    static uint8_t image[IMAGE_BYTES];

    test_sound();
    srand(4712);
    for (unsigned round = 0; round < 300; round++) {
        for (size_t i = 0; i < sizeof(image); i++) {
            image[i] = (uint8_t)rand();
        }
        memcpy(image, sound, SX_SEGMENT_BODY_OFF);
        struct sx_segment_header *const header = (void *)image;
        struct sx_store_header *const store_header = (void *)(image + SX_SEGMENT_BODY_OFF);
        header->used_bytes = IMAGE_BYTES;
        store_header->row_count = 1u << (rand() % 24);
        store_header->chunk_shift = (uint32_t)rand() % 9;
        store_header->dictionary = 512u | (uint64_t)(rand() % 13);
        struct sx_store store;
        cr_assert_eq(test_image_attach(&store, image), PMIX_SUCCESS);
        test_read_all(&store);
        for (sx_column column = 0; column < IMAGE_BYTES + 128; column += 8) {
            struct sx_item item;
            uint64_t sum = 0;
            if (sx_store_read(&store, column, (uint32_t)rand(), &item) == PMIX_SUCCESS) {
                test_each_any(&sum, "", &item);
            }
        }
        sx_store_detach(&store);
    }
}

/* Each word that is an offset or a length, wrong in every way, gives the one status. */
Test(store_hostile, each_wrong_offset_is_an_unpack_failure)
{
    static const uint64_t wrong[] = { UINT64_MAX,      IMAGE_BYTES,       IMAGE_BYTES - 8,
                                      UINT64_MAX - 63, UINT64_C(1) << 63, 0x1234567 };
    struct sx_store store;
    struct sx_item item;

    test_sound();
    cr_assert_eq(test_image_attach(&store, sound), PMIX_SUCCESS);
    const sx_column many = sx_store_column(&store, SX_REALM_JOB, "many", 4);
    const sx_column moved = sx_store_column(&store, SX_REALM_JOB, "moved", 5);
    const sx_column single = sx_store_column(&store, SX_REALM_JOB, "single", 6);
    sx_store_detach(&store);
    const struct sx_column_record *const record = (const void *)(sound + many);
    const struct {
        const char *why, *key;
        uint32_t row;
        uint64_t at;
    } rows[] = {
        { "dictionary", "single", 3, SX_SEGMENT_BODY_OFF },
        { "directory", "many", 7, many },
        { "chunk", "many", 7, record->directory },
        { "body", "single", 3, single + offsetof(struct sx_column_record, single) + 8 },
        { "moved cell", "moved", 0, moved + offsetof(struct sx_column_record, single) },
    };
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        for (size_t j = 0; j < SX_COUNT(wrong); j++) {
            static uint8_t image[IMAGE_BYTES];
            uint64_t word = wrong[j];
            if (i == SX_COUNT(rows) - 1) {
                word = SX_CELL_MOVED | wrong[j] << 16;
            }
            memcpy(image, sound, sizeof(image));
            memcpy(image + rows[i].at, &word, sizeof(word));
            cr_assert_eq(test_image_attach(&store, image), PMIX_SUCCESS);
            cr_expect_eq(sx_store_find(&store, SX_REALM_JOB, rows[i].row, rows[i].key, &item),
                         PMIX_ERR_UNPACK_FAILURE, "%s %#" PRIx64, rows[i].why, wrong[j]);
            sx_store_detach(&store);
        }
    }
}

Test(store_hostile, nothing_beyond_the_published_end_is_read)
{
    static uint8_t image[IMAGE_BYTES];
    struct sx_segment_header *const header = (void *)image;
    struct sx_store store;
    struct sx_item item;

    test_sound();
    memcpy(image, sound, sizeof(image));
    header->used_bytes = SX_STORE_HEAP_OFF;
    cr_assert_eq(test_image_attach(&store, image), PMIX_SUCCESS);
    cr_expect_eq(sx_store_find(&store, SX_REALM_JOB, 3, "single", &item), PMIX_ERR_UNPACK_FAILURE);
    sx_store_detach(&store);
    header->used_bytes = SX_SEGMENT_BODY_OFF + 8;
    cr_expect_eq(test_image_attach(&store, image), PMIX_ERR_BAD_PARAM);
}

Test(store_hostile, attach_refuses_geometry_that_cannot_be)
{
    static const struct {
        uint32_t row_count, chunk_shift;
    } rows[] = { { 0, 4 }, { SX_STORE_ROW_MAX + 1, 8 }, { 20, 9 }, { 20, UINT32_MAX } };
    static uint8_t image[IMAGE_BYTES];
    struct sx_store store;

    test_sound();
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        memcpy(image, sound, sizeof(image));
        struct sx_store_header *const header = (void *)(image + SX_SEGMENT_BODY_OFF);
        header->row_count = rows[i].row_count;
        header->chunk_shift = rows[i].chunk_shift;
        cr_expect_eq(test_image_attach(&store, image), PMIX_ERR_BAD_PARAM, "%zu", i);
        cr_expect_null(store.seg.base);
    }
}
