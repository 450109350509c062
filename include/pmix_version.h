/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmix_version.h - the level of the PMIx ABI that these headers describe.
 *
 * It is the level programs are compiled for, not the version of this library: PMIx_Get_version()
 * tells both. 4.2.9 is the last release of the series whose binaries load libpmix.so.2 with a
 * server module of 28 members. */
#ifndef PMIX_VERSION_H
#define PMIX_VERSION_H

#define PMIX_VERSION_MAJOR   4L
#define PMIX_VERSION_MINOR   2L
#define PMIX_VERSION_RELEASE 9L

/* Major, minor and release in one byte each, for comparisons in #if. */
#define PMIX_NUMERIC_VERSION 0x00040209

#endif /* PMIX_VERSION_H */
