/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* directives.h - the directives among a function's infos: one table a function, one reader for all.
 *
 *     infos --sx_directives_read, by the function's table--> the function's options (options.h)
 *
 * A row has a key, the type of its value, and its field in the options.  So each directive of the
 * table is read, and no other one.  A directive that the table does not have is refused when it is
 * required, and else skipped.  Of a directive that is given twice the last counts, unless its kind
 * differs. */
#ifndef SX_BASE_CALL_DIRECTIVES_H
#define SX_BASE_CALL_DIRECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

/* The type of a value, and the type of its field in the options.  A field is written only when its
 * directive is there. */
enum sx_directive_kind {
    SX_DIRECTIVE_NOTHING, /* any value; no field */
    SX_DIRECTIVE_BOOL,    /* bool */
    SX_DIRECTIVE_SAID,    /* uint8_t, enum sx_said: false is not the same as nothing */
    SX_DIRECTIVE_FLAG,    /* uint8_t: true sets the bits of `arg` */
    SX_DIRECTIVE_CHOICE,  /* uint8_t: true makes it `arg` */
    SX_DIRECTIVE_NUMBER,  /* struct sx_some_number, from 0 to `arg` */
    SX_DIRECTIVE_SECONDS, /* uint64_t: nanoseconds */
    SX_DIRECTIVE_STRING,  /* const char *, borrowed, of at most `arg` bytes; 0: of any length */
    SX_DIRECTIVE_STRINGS, /* uint32_t: how often it is given, as the function takes each of them */
    SX_DIRECTIVE_PROCS,   /* struct sx_some_procs: a process or an array of them, borrowed */
    SX_DIRECTIVE_SCOPE,   /* pmix_scope_t */
    SX_DIRECTIVE_RANGE,   /* pmix_data_range_t */
    SX_DIRECTIVE_PERSISTENCE, /* pmix_persistence_t */
    SX_DIRECTIVE_DEVICES,     /* pmix_device_type_t */
    SX_DIRECTIVE_INFOS,       /* struct sx_some_infos: an array of infos with keys, borrowed */
    SX_DIRECTIVE_INFO,        /* const pmix_info_t *, borrowed, for the function to judge */
};

/* The effect of a directive. */
enum sx_directive_effect {
    SX_DIRECTIVE_OBEYED,
    SX_DIRECTIVE_CARRIED, /* with the call, to all its receivers */
    SX_DIRECTIVE_IDLE,    /* it requests the present behaviour */
};

enum sx_said { SX_SAID_NOTHING, SX_SAID_YES, SX_SAID_NO };

struct sx_some_number {
    bool given;
    uint32_t number;
};

struct sx_some_procs {
    const pmix_proc_t *all;
    size_t count; /* at least 1 when given */
};

struct sx_some_infos {
    const pmix_info_t *all;
    size_t count; /* at least 1 when given */
};

struct sx_directive {
    const char *name;  /* "PMIX_TIMEOUT" */
    const char *key;   /* "pmix.timeout" */
    uint16_t key_size; /* with the NUL */
    uint16_t off;      /* of the field in the options */
    uint8_t kind;      /* enum sx_directive_kind */
    uint8_t effect;    /* enum sx_directive_effect */
    uint32_t arg;
};

/* The directives of one function. */
struct sx_directives {
    const char *function; /* "PMIx_Fence" */
    const struct sx_directive *rows;
    size_t count;
    pmix_info_directives_t no_directives; /* an info with one of these marks is not a directive */
    bool others_are_data;                 /* and judged elsewhere */
};

/* Read @info into @options, which has the function's defaults, by @table.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM for no infos at @info, a key that does not end, or a value that is not of the
 * row's kind;
 * PMIX_ERR_NOT_SUPPORTED for a required directive that the table does not have.  Both with a line
 * that names it. */
pmix_status_t sx_directives_read(const struct sx_directives *table, const pmix_info_t *info,
                                 size_t ninfo, void *options);

/* ---- lists of paths -------------------------------------------------------------------------- */

/* The paths of a comma-separated list, as the cleanup directives have them. */

struct sx_path {
    const char *text; /* in the list, so no NUL behind it */
    size_t len;       /* without slashes at its end */
    size_t name_off;  /* where its last component begins */
};

/* Take the next path that is not empty and move *at behind it.  Return: false at the end. */
bool sx_pathlist_next(const char **at, struct sx_path *ret_path);

/* Return: why nothing can be removed by that path, for a message; NULL when it is in order. */
const char *sx_path_fault(const struct sx_path *path);

/* Whether @path is a plain name, by which files in any directory can be kept. */
bool sx_path_is_name(const struct sx_path *path);

#endif
