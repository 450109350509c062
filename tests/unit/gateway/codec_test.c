/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* codec_test.c - packs as the other library writes them, and readers that believe nothing. */
#include "gateway/codec.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/value/type.h"
#include "base/value/value.h"
#include "unit/base/samples.h"

static struct sx_wire_reader reader_of(const struct sx_wire_writer *w)
{
    return (struct sx_wire_reader){ .at = w->bytes, .end = w->bytes + w->size, .form = w->form };
}

static struct sx_wire_writer writer_in(enum sx_encoding encoding)
{
    return (struct sx_wire_writer){ .form = { .encoding = encoding } };
}

/* What was written, as "02 5b", is @want; the writer is empty again. */
static void expect_bytes(struct sx_wire_writer *w, const char *want, const char *why)
{
    char text[1024] = "";

    for (size_t i = 0; i < w->size && 3 * i < sizeof(text) - 4; i++) {
        snprintf(text + 3 * i, 4, "%02x ", w->bytes[i]);
    }
    text[w->size == 0 ? 0 : 3 * w->size - 1] = '\0';
    cr_expect_str_eq(text, want, "%s: %s", why, text);
    cr_expect_eq(w->failed, PMIX_SUCCESS);
    sx_wire_writer_deinit(w);
}

Test(codec, numbers_in_v41_are_the_bytes_of_the_other_library)
{
    struct sx_wire_writer w = writer_in(SX_WIRE_V41);

    sx_codec_put_status(&w, PMIX_SUCCESS);
    expect_bytes(&w, "02 00", "STATUS 0");
    sx_codec_put_status(&w, -46);
    expect_bytes(&w, "02 5b", "STATUS -46");
    sx_codec_put_status(&w, INT_MIN);
    expect_bytes(&w, "02 ff ff ff ff 0f", "STATUS INT_MIN");
    sx_codec_put_u8(&w, SX_CODEC_COMMAND, 0);
    expect_bytes(&w, "02 00", "COMMAND 0");
    sx_codec_put_size(&w, 0);
    expect_bytes(&w, "02 00", "SIZE 0");
    sx_codec_put_size(&w, 5);
    expect_bytes(&w, "02 05", "SIZE 5");
    sx_codec_put_size(&w, 300);
    expect_bytes(&w, "02 ac 02", "SIZE 300");
    sx_codec_put_u32(&w, PMIX_PROC_RANK, 3);
    expect_bytes(&w, "02 03", "RANK 3");
    sx_codec_put_u32(&w, PMIX_PROC_RANK, PMIX_RANK_WILDCARD);
    expect_bytes(&w, "02 fe ff ff ff 0f", "RANK WILDCARD");
    sx_codec_put_size(&w, SIZE_MAX);
    expect_bytes(&w, "02 ff ff ff ff ff ff ff ff ff", "SIZE_MAX");
}

Test(codec, texts_and_structs_in_v41_are_the_bytes_of_the_other_library)
{
    struct sx_wire_writer w = writer_in(SX_WIRE_V41);
    pmix_proc_t procs[3] = { { "j", 1 }, { "j", 1 }, { "j", 1 } };
    pmix_value_t five = { .type = PMIX_UINT32, .data.uint32 = 5 };
    pmix_info_t info = { .key = "k", .value = { .type = PMIX_BOOL, .data.flag = true } };

    sx_codec_put_text(&w, "a");
    expect_bytes(&w, "02 04 61 00", "STRING a");
    sx_codec_put_text(&w, NULL);
    expect_bytes(&w, "02 00", "STRING NULL");
    sx_codec_pack(&w, PMIX_PROC, procs, 1);
    expect_bytes(&w, "02 04 6a 00 01", "PROC");
    sx_codec_pack(&w, PMIX_PROC, procs, 3);
    expect_bytes(&w, "06 04 6a 00 01 04 6a 00 01 04 6a 00 01", "3 PROC");
    cr_expect(sx_codec_put_kval(&w, "k", &five));
    expect_bytes(&w, "02 04 6b 00 0e 05", "KVAL");
    sx_codec_pack(&w, PMIX_INFO, &info, 1);
    expect_bytes(&w, "02 04 6b 00 00 01 01", "INFO");
}

Test(codec, packs_in_v3_are_big_endian)
{
    struct sx_wire_writer w = writer_in(SX_WIRE_V3);

    sx_codec_put_status(&w, -46);
    expect_bytes(&w, "00 00 00 01 ff ff ff d2", "STATUS -46");
    sx_codec_put_size(&w, 5);
    expect_bytes(&w, "00 00 00 01 00 0f 00 00 00 00 00 00 00 05", "SIZE 5");
    sx_codec_put_text(&w, "a");
    expect_bytes(&w, "00 00 00 01 00 00 00 02 61 00", "STRING a");
    sx_codec_pack(&w, PMIX_SIZE, (const size_t[]){ 5, 6 }, 2);
    expect_bytes(&w, "00 00 00 02 00 0f 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00 06", "2 SIZE");
    sx_codec_pack(&w, PMIX_INT, (const int[]){ 5, -1 }, 2);
    expect_bytes(&w, "00 00 00 02 00 09 00 00 00 05 ff ff ff ff", "2 INT");
    sx_codec_pack(&w, PMIX_PID, (const pid_t[]){ 5, 6 }, 2);
    expect_bytes(&w, "00 00 00 02 00 0e 00 00 00 05 00 00 00 06", "2 PID");
}

static bool is_tried(pmix_data_type_t type, enum sx_encoding encoding)
{
    return sample_is_element_type(type) && sx_codec_carries(type, encoding);
}

/* A sample's compressed bytes are not compressed. */
static bool is_inflated(const void *element, pmix_data_type_t type)
{
    const pmix_info_t *const info = element;
    const pmix_pdata_t *const pdata = element;
    const pmix_data_type_t inner = type == PMIX_VALUE   ? ((const pmix_value_t *)element)->type
                                   : type == PMIX_INFO  ? info->value.type
                                   : type == PMIX_PDATA ? pdata->value.type
                                                        : PMIX_UNDEF;

    return inner == PMIX_COMPRESSED_STRING || inner == PMIX_COMPRESSED_BYTE_OBJECT;
}

/* One element of @type comes back as it was, so that it is written as before, or cannot be written
 * at all. */
static void goes_there_and_back(pmix_data_type_t type, unsigned seed, struct sx_wire_form form)
{
    struct sx_wire_writer w = { .form = form }, again = w;
    struct sx_wire_reader r;
    union {
        max_align_t align;
        char bytes[2048];
    } in = { .bytes = { 0 } }, out;

    sample_element(&in, type, seed, 0);
    sx_codec_pack(&w, type, &in, 1);
    if (w.failed == PMIX_SUCCESS && !is_inflated(&in, type)) {
        r = reader_of(&w);
        cr_assert(sx_codec_unpack(&r, type, &out, 1), "type %u seed %u: %d", type, seed, r.failed);
        cr_expect_eq(sx_wire_rest(&r), 0);
        sx_codec_pack(&again, type, &out, 1);
        cr_assert_eq(again.size, w.size, "type %u seed %u", type, seed);
        cr_expect_arr_eq(again.bytes, w.bytes, w.size, "type %u seed %u", type, seed);
        sx_elements_destruct(&out, 1, type);
    }
    sx_elements_destruct(&in, 1, type);
    sx_wire_writer_deinit(&again);
    sx_wire_writer_deinit(&w);
}

Test(codec, elements_of_every_type_come_back_as_they_were)
{
    static const struct sx_wire_form forms[] = {
        { SX_WIRE_V3, false }, { SX_WIRE_V3, true }, { SX_WIRE_V41, false }, { SX_WIRE_V41, true }
    };

    for (size_t i = 0; i < SX_COUNT(forms); i++) {
        for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
            for (unsigned seed = 0; is_tried(type, forms[i].encoding) && seed < 60; seed++) {
                goes_there_and_back(type, seed, forms[i]);
            }
        }
    }
}

Test(codec, a_value_that_the_encoding_lacks_is_left_away)
{
    struct sx_wire_writer w = writer_in(SX_WIRE_V3);
    pmix_coord_t coord = { .view = PMIX_COORD_LOGICAL_VIEW };
    pmix_value_t value = { .type = PMIX_COORD, .data.coord = &coord };

    cr_expect_not(sx_codec_put_kval(&w, "k", &value));
    cr_expect_eq(w.size, 0);
    cr_expect_eq(w.failed, PMIX_SUCCESS);
    w.form.encoding = SX_WIRE_V41;
    cr_expect(sx_codec_put_kval(&w, "k", &value));
    sx_wire_writer_deinit(&w);
}

/* The other library reads them, and crashes as it keeps them. */
Test(codec, arrays_that_cannot_be_kept_are_left_away)
{
    static const pmix_data_type_t types[] = {
        PMIX_DATA_TYPE,   PMIX_PROC_STATE,  PMIX_ALLOC_DIRECTIVE, PMIX_IOF_CHANNEL,
        PMIX_JOB_STATE,   PMIX_LINK_STATE,  PMIX_DEVTYPE,         PMIX_LOCTYPE,
        PMIX_STOR_MEDIUM, PMIX_STOR_ACCESS, PMIX_STOR_PERSIST,    PMIX_STOR_ACCESS_TYPE,
        PMIX_SCOPE, /* which can */
    };
    static uint64_t numbers[2];

    for (size_t i = 0; i < SX_COUNT(types); i++) {
        struct sx_wire_writer w = writer_in(SX_WIRE_V41);
        pmix_data_array_t array = { .type = types[i], .size = 2, .array = numbers };
        const pmix_value_t alone = { .type = types[i] },
                           together = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

        cr_expect(types[i] == PMIX_DATA_TYPE || types[i] == PMIX_IOF_CHANNEL ||
                      sx_codec_put_kval(&w, "k", &alone),
                  "type %u", types[i]);
        cr_expect_eq(sx_codec_put_kval(&w, "k", &together), types[i] == PMIX_SCOPE, "type %u",
                     types[i]);
        sx_wire_writer_deinit(&w);
    }
}

Test(codec, infos_of_a_group_keep_their_flags)
{
    struct sx_wire_writer w = writer_in(SX_WIRE_V41);
    struct sx_codec_group group = { .elements.form = w.form };
    const pmix_value_t five = { .type = PMIX_UINT32, .data.uint32 = 5 };
    const pmix_info_t qualifier = { .key = "q", .flags = PMIX_INFO_QUALIFIER, .value = five };

    cr_expect(sx_codec_group_add(&group, "k", &five));
    cr_expect(sx_codec_group_add_info(&group, &qualifier));
    sx_codec_group_put(&w, "a", &group);
    expect_bytes(&w, "02 04 61 00 27 18 02 04 6b 00 00 0e 05 04 71 00 08 0e 05", "a group");
}

/* The flag says that the value is borrowed, which it is in the sender's memory. */
Test(codec, no_info_is_persistent_where_it_comes_to)
{
    const pmix_info_t info = { .key = "k", .flags = PMIX_INFO_PERSISTENT | PMIX_INFO_REQD };
    struct sx_wire_writer w = writer_in(SX_WIRE_V41);
    struct sx_wire_reader r;
    pmix_info_t out;

    sx_codec_pack(&w, PMIX_INFO, &info, 1);
    r = reader_of(&w);
    cr_assert(sx_codec_unpack(&r, PMIX_INFO, &out, 1));
    cr_expect_eq(out.flags, PMIX_INFO_REQD);
    sx_elements_destruct(&out, 1, PMIX_INFO);
    sx_wire_writer_deinit(&w);
}

Test(codec, a_cut_pack_is_refused_at_every_length)
{
    struct sx_wire_writer w = writer_in(SX_WIRE_V41);
    pmix_info_t info = { .key = "key" };
    pmix_info_t out;

    sample_array_value(&info.value, PMIX_INFO, 3, 1);
    sx_codec_pack(&w, PMIX_INFO, &info, 1);
    cr_assert_eq(w.failed, PMIX_SUCCESS);
    for (size_t size = 0; size < w.size; size++) {
        struct sx_wire_reader r = reader_of(&w);

        r.end = r.at + size;
        cr_expect_not(sx_codec_unpack(&r, PMIX_INFO, &out, 1), "%zu bytes", size);
    }
    sx_value_destruct(&info.value);
    sx_wire_writer_deinit(&w);
}

static const struct {
    const char *why;
    pmix_data_type_t type;
    size_t count;
    const char *bytes;
    size_t size;
    pmix_status_t want;
} hostile[] = {
#define ROW(why, type, count, bytes, want)                         \
    {                                                              \
        (why), (type), (count), (bytes), sizeof(bytes) - 1, (want) \
    }
    ROW("no elements", PMIX_STATUS, 1, "\x00", PMIX_ERR_UNPACK_FAILURE),
    ROW("a negative count", PMIX_STATUS, 1, "\x01\x00", PMIX_ERR_UNPACK_FAILURE),
    ROW("more than is asked for", PMIX_STATUS, 1, "\x04\x00\x00", PMIX_ERR_UNPACK_FAILURE),
    ROW("a count beyond the bytes", PMIX_STATUS, 1, "\xfe\xff\xff\xff\x0f\x00",
        PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER),
    ROW("a number wider than its type", PMIX_UINT16, 1, "\x02\xff\xff\xff\x01",
        PMIX_ERR_UNPACK_FAILURE),
    ROW("a text without its NUL", PMIX_STRING, 1,
        "\x02\x04"
        "ab",
        PMIX_ERR_UNPACK_FAILURE),
    ROW("a NUL inside a text", PMIX_STRING, 1,
        "\x02\x06"
        "a\0\0",
        PMIX_ERR_UNPACK_FAILURE),
    ROW("a text of negative length", PMIX_STRING, 1,
        "\x02\x03"
        "ab",
        PMIX_ERR_UNPACK_FAILURE),
    ROW("a type that nobody knows", PMIX_INFO, 1, "\x02\x04k\x00\x00\x7f\x01",
        PMIX_ERR_UNKNOWN_DATA_TYPE),
    ROW("bytes beyond the end", PMIX_BYTE_OBJECT, 1, "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER),
    ROW("an argument that would end the vector", PMIX_APP, 1,
        "\x02\x00\x04\x00\x04"
        "a\0",
        PMIX_ERR_UNPACK_FAILURE),
    ROW("an array of more than there is", PMIX_DATA_ARRAY, 1, "\x02\x18\xff\xff\x7f\x00\x00",
        PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER),
#undef ROW
};

Test(codec, bytes_that_nobody_writes_are_refused)
{
    for (size_t i = 0; i < SX_COUNT(hostile); i++) {
        struct sx_wire_reader r = { .at = (const uint8_t *)hostile[i].bytes,
                                    .end = (const uint8_t *)hostile[i].bytes + hostile[i].size,
                                    .form = { .encoding = SX_WIRE_V41 } };
        pmix_info_t out[2];

        cr_expect_not(sx_codec_unpack(&r, hostile[i].type, out, hostile[i].count), "%s",
                      hostile[i].why);
        cr_expect_eq(r.failed, hostile[i].want, "%s: %d", hostile[i].why, r.failed);
    }
}

/* An array of one info whose value is such an array, @depth times. */
static void put_nested(struct sx_wire_writer *w, unsigned depth)
{
    sx_wire_put_uint(w, PMIX_INFO, 2);
    sx_wire_put_uint(w, depth == 0 ? 0 : 1, 8);
    if (depth > 0) {
        sx_wire_put_text(w, "k");
        sx_wire_put_uint(w, 0, 4);
        sx_wire_put_uint(w, PMIX_DATA_ARRAY, 2);
        put_nested(w, depth - 1);
    }
}

Test(codec, arrays_nest_to_a_bound)
{
    for (unsigned depth = 0; depth < 3 * SX_CODEC_DEPTH_MAX; depth++) {
        struct sx_wire_writer w = writer_in(SX_WIRE_V41);
        struct sx_wire_reader r;
        pmix_data_array_t out;

        sx_wire_put_head(&w, PMIX_DATA_ARRAY, 1);
        put_nested(&w, depth);
        r = reader_of(&w);
        cr_expect_eq(sx_codec_unpack(&r, PMIX_DATA_ARRAY, &out, 1), depth <= SX_CODEC_DEPTH_MAX,
                     "depth %u", depth);
        if (r.failed == PMIX_SUCCESS) {
            sx_elements_destruct(&out, 1, PMIX_DATA_ARRAY);
        }
        sx_wire_writer_deinit(&w);
    }
}

/* A KVAL of a compressed string that says it is @plain bytes long. */
static void put_compressed(struct sx_wire_writer *w, const char *text, uint32_t plain)
{
    unsigned char packed[4096];
    uLongf size = sizeof(packed);
    uint32_t length = plain;

    cr_assert_eq(compress2(packed, &size, (const Bytef *)text, strlen(text), 9), Z_OK);
    sx_wire_put_head(w, SX_CODEC_KVAL, 1);
    sx_wire_put_text(w, "k");
    sx_wire_put_uint(w, PMIX_COMPRESSED_STRING, 2);
    sx_wire_put_uint(w, sizeof(length) + size, 8);
    sx_wire_put(w, &length, sizeof(length));
    sx_wire_put(w, packed, size);
}

Test(codec, a_compressed_string_is_inflated_if_its_length_is_true)
{
    static char text[60000];

    memset(text, 'x', sizeof(text) - 1);
    for (int lie = -1; lie <= 1; lie++) {
        struct sx_wire_writer w = writer_in(SX_WIRE_V41);
        struct sx_wire_reader r;
        const char *key;
        pmix_value_t value;

        put_compressed(&w, text, (uint32_t)(strlen(text) + (size_t)lie));
        r = reader_of(&w);
        cr_assert_eq(sx_codec_get_kval(&r, &key, &value), lie == 0, "%d", lie);
        if (lie == 0) {
            cr_expect_eq(value.type, PMIX_STRING);
            cr_expect_str_eq(value.data.string, text);
            sx_value_destruct(&value);
        }
        sx_wire_writer_deinit(&w);
    }
}

Test(codec, a_compressed_string_takes_no_more_memory_than_its_bytes_may_stand_for)
{
    struct sx_wire_writer w = writer_in(SX_WIRE_V41);
    struct sx_wire_reader r;
    const char *key;
    pmix_value_t value;

    put_compressed(&w, "short", SX_CODEC_INFLATED_MAX);
    r = reader_of(&w);
    cr_expect_not(sx_codec_get_kval(&r, &key, &value));
    cr_expect_eq(r.failed, PMIX_ERR_UNPACK_FAILURE);
    sx_wire_writer_deinit(&w);
}

/* The smallest info: no key, no flags, no value. */
static pmix_status_t small_infos_read(size_t count)
{
    struct sx_wire_writer w = writer_in(SX_WIRE_V41);
    struct sx_wire_reader r;
    struct sx_codec_infos infos;
    uint8_t *at;

    sx_codec_put_size(&w, count);
    sx_wire_put_head(&w, PMIX_INFO, count);
    at = sx_wire_reserve(&w, 3 * count);
    cr_assert_not_null(at);
    memset(at, 0, 3 * count);
    w.size += 3 * count;
    r = reader_of(&w);
    infos = sx_codec_get_infos(&r);
    cr_expect_eq(infos.count, r.failed == PMIX_SUCCESS ? count : 0);
    sx_codec_infos_free(&infos);
    sx_wire_writer_deinit(&w);
    return r.failed;
}

Test(codec, small_elements_do_not_take_more_memory_than_a_message_may)
{
    cr_expect_eq(small_infos_read(1000), PMIX_SUCCESS);
    cr_expect_eq(small_infos_read(SX_CODEC_MEMORY_MAX / sizeof(pmix_info_t) + 1),
                 PMIX_ERR_OUT_OF_RESOURCE);
}

/* Texts of two bytes, where @left bytes of a message's memory are left. */
static pmix_status_t small_texts_read(size_t count, size_t left)
{
    struct sx_wire_writer w = writer_in(SX_WIRE_V41);
    struct sx_wire_reader r;
    pmix_data_array_t out;

    sx_wire_put_head(&w, PMIX_DATA_ARRAY, 1);
    sx_wire_put_uint(&w, PMIX_STRING, 2);
    sx_wire_put_uint(&w, count, 8);
    for (size_t i = 0; i < count; i++) {
        sx_wire_put_text(&w, "a");
    }
    r = reader_of(&w);
    r.memory = SX_CODEC_MEMORY_MAX - left;
    if (sx_codec_unpack(&r, PMIX_DATA_ARRAY, &out, 1)) {
        sx_elements_destruct(&out, 1, PMIX_DATA_ARRAY);
    }
    sx_wire_writer_deinit(&w);
    return r.failed;
}

/* A block of the heap takes 32 bytes, however short its text is. */
Test(codec, small_texts_take_the_memory_of_their_blocks)
{
    cr_expect_eq(small_texts_read(1000, 1000 * 64), PMIX_SUCCESS);
    cr_expect_eq(small_texts_read(1000, 1000 * 32), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(small_texts_read(1, 0), PMIX_ERR_OUT_OF_RESOURCE);
}
