/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* descriptors.c - closed by one call where the kernel has it (5.9), else one a number; counted
 * likewise. */
#include "base/system/descriptors.h"

#include <dirent.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SX_DESCRIPTOR_MAX 65536 /* looked at where the limit says more, or nothing */

void sx_descriptors_close_from(int first)
{
    const long limit = sysconf(_SC_OPEN_MAX);
    const int end = limit > 0 && limit < SX_DESCRIPTOR_MAX ? (int)limit : SX_DESCRIPTOR_MAX;

    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) {
        return;
    }
    for (int fd = first; fd < end; fd++) {
        close(fd);
    }
}

/* Linux 6.2 has the count at hand; before that its names are counted, with the one for that. */
static size_t count_used(void)
{
    static const char path[] = "/proc/self/fd";
    struct stat st;
    size_t used = 0;

    if (stat(path, &st) == 0 && st.st_size > 0) {
        return (size_t)st.st_size;
    }
    DIR *const all = opendir(path);

    while (all != NULL && readdir(all) != NULL) {
        used++;
    }
    if (all != NULL) {
        closedir(all);
    }
    return used > 3 ? used - 3 : 0; /* ".", ".." and the directory's own */
}

struct sx_descriptors sx_descriptors_look(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > SIZE_MAX) {
        return (struct sx_descriptors){ .limit = SIZE_MAX };
    }
    return (struct sx_descriptors){ .used = count_used(), .limit = (size_t)limit.rlim_cur };
}
