/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* frameworks.c - the list that Open MPI 5 wants to see: there are no plugin frameworks here. */
#include <src/include/pmix_frameworks.h>

__attribute__((visibility("default"))) char *pmix_framework_names[] = { 0 };
