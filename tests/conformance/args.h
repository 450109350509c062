/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* args.h - good and bad arguments for every function of the interface, by kind.
 *
 * The table of functions is written from the facts at build time (args_generate.py); the values
 * are in args_values.c; args_test.c makes the calls. */
#ifndef SX_TESTS_CONFORMANCE_ARGS_H
#define SX_TESTS_CONFORMANCE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

#define ARGS_NSPACE "args.job"
#define ARGS_KEY "args.key"
#define ARGS_PARAMETERS_MAX 10

/* How many elements an array behind a good pointer with a count has. */
#define ARGS_ARRAY_COUNT 1

enum kind {
    KIND_NUMBER, /* an integer or an enumeration */
    KIND_TYPE,   /* pmix_data_type_t */
    KIND_RANK,
    KIND_SIZE,       /* a size that stands alone: how much to make */
    KIND_COUNT,      /* of the array before it: comes with it */
    KIND_TEXT,       /* a C string of any length */
    KIND_KEY,        /* a C string, or pmix_key_t without a NUL */
    KIND_NSPACE,     /* the same of pmix_nspace_t */
    KIND_NAME,       /* pmix_key_t or pmix_nspace_t that may be written to */
    KIND_BYTES,      /* a block that the callee may take over */
    KIND_DATA,       /* untyped data, good for every type: zeros */
    KIND_OBJECT,     /* a structure or an array of them */
    KIND_OUT,        /* where a result goes */
    KIND_OUT_NUMBER, /* where a number goes that may be read first */
    KIND_VECTOR,     /* NULL-ended strings */
    KIND_VECTOR_IN_OUT,
    KIND_LIST,  /* of PMIx_Info_list_start */
    KIND_TOKEN, /* handed back to callbacks */
    KIND_CALLBACK,
};

struct arg {
    void *pointer;
    void (*function)(void);
    uint64_t number;
};

struct parameter {
    enum kind kind;
    const char *type; /* without stars and const */
    size_t size;      /* of an object or a name */
    bool counted;     /* the next parameter is its count */
    void (*callback)(void);
};

enum result { RETURNS_STATUS, RETURNS_NOTHING, RETURNS_OTHER };

struct function {
    const char *name;
    long long (*call)(const struct arg *a);
    enum result result;
    bool stateless; /* works on its arguments alone, whatever the state of the library */
    int parameter_count;
    struct parameter parameters[ARGS_PARAMETERS_MAX];
};

/* One value of one parameter. */
struct variant {
    const char *name;
    /* Fill in @arg, and @count when the parameter is counted (else NULL). */
    void (*make)(struct arg *arg, struct arg *count, long detail);
    long detail;
    bool wrong; /* whoever looks at the argument must refuse it */
};

/* The identity that good arguments carry; set on entering a state. */
extern pmix_proc_t args_self;

/* Fill in a value that belongs to @parameter and is right. */
void args_good(const struct parameter *parameter, struct arg *arg, struct arg *count);

/* The values of @parameter that are tried one after the other.  Return: their number. */
size_t args_variants(const struct parameter *parameter, const struct variant **ret_variants);

/* One info element with @key and the @which-th kind of value; NULL: there are no more kinds. */
pmix_info_t *args_info_make(const char *key, size_t which, const char **ret_name);

/* Called by every callback; @handler: an event handler, which may be called any number of times. */
void args_called(bool handler);

#endif
