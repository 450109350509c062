/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* replay.c - run every file of the given folders through a target, once.
 *
 * Return: 0 when all of them ran; a broken promise aborts.  A folder without a file is an error,
 * since a corpus that got lost would otherwise look like one that holds. */
#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static int replay_file(const char *path)
{
    FILE *from = fopen(path, "rb");
    struct stat st;
    uint8_t *data;
    size_t size;

    if (from == NULL || fstat(fileno(from), &st) != 0) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        exit(1);
    }
    if (!S_ISREG(st.st_mode)) {
        fclose(from);
        return 0;
    }
    data = malloc(st.st_size > 0 ? (size_t)st.st_size : 1);
    size = fread(data, 1, (size_t)st.st_size, from);
    fclose(from);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    char file[PATH_MAX];
    int count = 0;

    if (folder == NULL) {
        fprintf(stderr, "replay: cannot open %s\n", path);
        exit(1);
    }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
            count += replay_file(file);
        }
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const int count = replay_folder(argv[i]);

        printf("%d inputs of %s\n", count, argv[i]);
        if (count == 0) {
            return 1;
        }
    }
    return argc > 1 ? 0 : 1;
}
