/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* seeds.c - write inputs to begin a corpus with: samples of every type, packed or flat.
 *
 * usage: fuzz-seeds unpack|flat FOLDER */
#include <hwloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/flat.h"
#include "base/value/pack.h"

#include "samples.h"

#define SEEDS_PER_TYPE 6

static void write_input(const char *folder, pmix_data_type_t type, unsigned seed, const void *head,
                        size_t head_size, const void *body, size_t size)
{
    char path[PATH_MAX];
    FILE *to;

    snprintf(path, sizeof(path), "%s/type%u-%u", folder, type, seed);
    to = fopen(path, "wb");
    if (to == NULL || fwrite(head, 1, head_size, to) != head_size ||
        fwrite(body, 1, size, to) != size || fclose(to) != 0) {
        perror(path);
        exit(1);
    }
}

static void write_packed(const char *folder, pmix_data_type_t type, unsigned seed)
{
    const unsigned char head[2] = { (unsigned char)type, 3 };
    void *array = sample_array(type, 1 + seed % 2, seed, SAMPLE_DEPTH);
    pmix_data_buffer_t b = { .base_ptr = NULL };

    if (sx_pack(&b, array, 1 + seed % 2, type) == PMIX_SUCCESS) {
        write_input(folder, type, seed, head, sizeof(head), b.base_ptr, b.bytes_used);
    }
    free(b.base_ptr);
    sx_elements_destruct(array, 1 + seed % 2, type);
    free(array);
}

static void write_flat(const char *folder, pmix_data_type_t type, unsigned seed)
{
    pmix_value_t value;
    struct sx_cell cell;
    size_t size;
    void *body;

    sample_array_value(&value, type, 1 + seed % 2, seed);
    if (sx_flat_size(&value, &size) == PMIX_SUCCESS) {
        body = aligned_alloc(8, size + 8);
        if (sx_flat_encode(&value, &cell, body, size) == PMIX_SUCCESS) {
            write_input(folder, type, seed, &cell, sizeof(cell), body, size);
        }
        free(body);
    }
    sx_value_destruct(&value);
}

/* hwloc's objects, which the samples do not have. */
static void write_opaque(const char *folder)
{
    static char source[] = "hwloc";
    static const unsigned char heads[2][2] = { { PMIX_PROC_CPUSET, 0 }, { PMIX_TOPO, 0 } };
    hwloc_topology_t made;
    pmix_cpuset_t set = { .source = source, .bitmap = hwloc_bitmap_alloc() };
    pmix_topology_t topo = { .source = source };
    pmix_data_buffer_t b = { .base_ptr = NULL };

    hwloc_bitmap_list_sscanf(set.bitmap, "0-3,8,12-");
    if (sx_pack(&b, &set, 1, PMIX_PROC_CPUSET) == PMIX_SUCCESS) {
        write_input(folder, PMIX_PROC_CPUSET, 0, heads[0], 2, b.base_ptr, b.bytes_used);
    }
    hwloc_bitmap_free(set.bitmap);
    free(b.base_ptr);
    b = (pmix_data_buffer_t){ .base_ptr = NULL };
    hwloc_topology_init(&made);
    hwloc_topology_set_synthetic(made, "pu:1");
    hwloc_topology_load(made);
    topo.topology = made;
    if (sx_pack(&b, &topo, 1, PMIX_TOPO) == PMIX_SUCCESS) {
        write_input(folder, PMIX_TOPO, 0, heads[1], 2, b.base_ptr, b.bytes_used);
    }
    hwloc_topology_destroy(made);
    free(b.base_ptr);
}

int main(int argc, char **argv)
{
    if (argc != 3 || (strcmp(argv[1], "unpack") != 0 && strcmp(argv[1], "flat") != 0)) {
        fprintf(stderr, "usage: fuzz-seeds unpack|flat FOLDER\n");
        return 2;
    }
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_element_type(type) && seed < SEEDS_PER_TYPE; seed++) {
            if (strcmp(argv[1], "flat") == 0) {
                write_flat(argv[2], type, seed);
            } else {
                write_packed(argv[2], type, seed);
            }
        }
    }
    if (strcmp(argv[1], "unpack") == 0) {
        write_opaque(argv[2]);
    }
    return 0;
}
