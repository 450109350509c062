/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* library.c - the loader is asked for each function once; it counts, and never unmaps, the library.
 *
 * The names stay out of the process's global scope: a program that brings a library of the same
 * functions must not get this one. */
#include "base/system/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <hwloc.h>
#include <zlib.h>

#include "base/status.h"

void *sx_library_find(const char *soname, const char *name)
{
    void *const library = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *const function = library != NULL ? dlsym(library, name) : NULL;

    if (function == NULL) {
        const char *const why = dlerror();

        sx_log(SX_LOG_ERROR, "%s: %s", name, why != NULL ? why : soname);
    }
    return function;
}

int sx_library_try(const char *soname)
{
    if (dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != NULL) {
        return 0;
    }
    (void)dlerror(); /* its text is all that the loader reports, so errors are checked here */
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        close(fd);
        return 0;
    }
    return errno == EMFILE || errno == ENFILE ? errno : 0;
}

/* ---- hwloc ----------------------------------------------------------------------------------- */

/* The calls of hwloc, with their return values without it.
 *
 * Without the library no topology and no bitmap is ever made, so only the functions that make one,
 * or are given a program's own, have a refusal that is visible. */

/* The names of parameters are those of hwloc's headers, shortened. */
typedef hwloc_topology_t topo_t;
typedef hwloc_const_bitmap_t set_t;

#define CALL(refused, type, name, params, args) \
    SX_LIBRARY_CALL(SHMIX_LIBHWLOC, refused, type, name, params, args)
#define CALL_VOID(name, params, args) SX_LIBRARY_CALL_VOID(SHMIX_LIBHWLOC, name, params, args)

/* clang-format off: a table */
CALL(0, unsigned, hwloc_get_api_version, (void), ())

CALL(-1, int, hwloc_topology_init, (topo_t * ret), (ret))
CALL(-1, int, hwloc_topology_dup, (topo_t * ret, topo_t topo), (ret, topo))
CALL(-1, int, hwloc_topology_abi_check, (topo_t topo), (topo))
CALL(-1, int, hwloc_topology_set_flags, (topo_t topo, unsigned long flags), (topo, flags))
CALL(-1, int, hwloc_topology_set_all_types_filter, (topo_t topo, enum hwloc_type_filter_e kept),
     (topo, kept))
CALL(-1, int, hwloc_topology_set_io_types_filter, (topo_t topo, enum hwloc_type_filter_e kept),
     (topo, kept))
CALL(-1, int, hwloc_topology_set_components, (topo_t topo, unsigned long flags, const char *name),
     (topo, flags, name))
CALL(-1, int, hwloc_topology_set_xmlbuffer, (topo_t topo, const char *xml, int size),
     (topo, xml, size))
CALL(-1, int, hwloc_topology_load, (topo_t topo), (topo))
CALL(-1, int, hwloc_topology_export_xmlbuffer,
     (topo_t topo, char **xml, int *size, unsigned long flags), (topo, xml, size, flags))
CALL_VOID(hwloc_free_xmlbuffer, (topo_t topo, char *xml), (topo, xml))
CALL_VOID(hwloc_topology_destroy, (topo_t topo), (topo))

CALL(0, int, hwloc_topology_is_thissystem, (topo_t topo), (topo))
CALL(NULL, set_t, hwloc_topology_get_topology_cpuset, (topo_t topo), (topo))
CALL(NULL, set_t, hwloc_topology_get_allowed_cpuset, (topo_t topo), (topo))
CALL(-1, int, hwloc_get_cpubind, (topo_t topo, hwloc_cpuset_t set, int flags), (topo, set, flags))
CALL(-1, int, hwloc_get_type_depth, (topo_t topo, hwloc_obj_type_t type), (topo, type))
CALL(0, unsigned, hwloc_get_nbobjs_by_depth, (topo_t topo, int depth), (topo, depth))
CALL(NULL, hwloc_obj_t, hwloc_get_obj_by_depth, (topo_t topo, int depth, unsigned i),
     (topo, depth, i))

CALL("", const char *, hwloc_obj_type_string, (hwloc_obj_type_t type), (type))

CALL(NULL, hwloc_bitmap_t, hwloc_bitmap_alloc, (void), ())
CALL(NULL, hwloc_bitmap_t, hwloc_bitmap_dup, (set_t set), (set))
CALL_VOID(hwloc_bitmap_free, (hwloc_bitmap_t set), (set))
CALL(-1, int, hwloc_bitmap_set, (hwloc_bitmap_t set, unsigned id), (set, id))
CALL(-1, int, hwloc_bitmap_set_range, (hwloc_bitmap_t set, unsigned begin, int end),
     (set, begin, end))
CALL(-1, int, hwloc_bitmap_and, (hwloc_bitmap_t set, set_t a, set_t b), (set, a, b))
CALL(-1, int, hwloc_bitmap_or, (hwloc_bitmap_t set, set_t a, set_t b), (set, a, b))
CALL(0, int, hwloc_bitmap_isset, (set_t set, unsigned id), (set, id))
CALL(1, int, hwloc_bitmap_iszero, (set_t set), (set))
CALL(0, int, hwloc_bitmap_isequal, (set_t a, set_t b), (a, b))
CALL(0, int, hwloc_bitmap_isincluded, (set_t sub, set_t super), (sub, super))
CALL(0, int, hwloc_bitmap_intersects, (set_t a, set_t b), (a, b))
CALL(-1, int, hwloc_bitmap_first, (set_t set), (set))
CALL(-1, int, hwloc_bitmap_next, (set_t set, int before), (set, before))
CALL(-1, int, hwloc_bitmap_last, (set_t set), (set))
CALL(-1, int, hwloc_bitmap_last_unset, (set_t set), (set))
CALL(0, int, hwloc_bitmap_weight, (set_t set), (set))
CALL(-1, int, hwloc_bitmap_list_asprintf, (char **ret, set_t set), (ret, set))
CALL(-1, int, hwloc_bitmap_list_sscanf, (hwloc_bitmap_t set, const char *text), (set, text))

/* clang-format on */
#undef CALL
#undef CALL_VOID

/* ---- zlib ------------------------------------------------------------------------------------ */

/* The calls of zlib: without zlib nothing is compressed. */

#define CALL(name, params, args) SX_LIBRARY_CALL(SHMIX_LIBZ, Z_MEM_ERROR, int, name, params, args)

/* clang-format off: a table */
CALL(compress2, (Bytef * to, uLongf *to_size, const Bytef *from, uLong size, int level),
     (to, to_size, from, size, level))
CALL(uncompress2, (Bytef * to, uLongf *to_size, const Bytef *from, uLong *size),
     (to, to_size, from, size))
