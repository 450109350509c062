/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmix_frameworks.h - what Open MPI 5 and later include to be built.
 *
 * libopen-pal copies an environment variable OMPI_MCA_NAME_... to PMIX_MCA_NAME_... when NAME is in
 * this list.  The library has no components to choose from, so the list is empty. */
#ifndef PMIX_FRAMEWORKS_H
#define PMIX_FRAMEWORKS_H

/* The names of the library's plugin frameworks; a NULL ends the list.  Read-only. */
extern char *pmix_framework_names[];

#endif
