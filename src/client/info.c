/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* info.c - what this library is, and progress by hand. */
#include "client/client.h"
#include "client/progress.h"

/* Open MPI refuses a library whose version begins with a character below '3'. */
const char *PMIx_Get_version(void)
{
    return "shmix " SHMIX_VERSION " (PMIx 4.2 ABI)";
}

/* Where callbacks have a thread of their own, taking in what has arrived is all there is to do. */
void PMIx_Progress(void)
{
    if (sx_process_ready()) {
        sx_pump();
        sx_progress_run();
    }
}
