/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* field.h - the command by the names that users of PMIx know, with the options that these have.
 *
 *     pquery KEY[QUALIFIER=VALUE;...]      shmix query KEY --qualifier QUALIFIER=VALUE
 *     pattrs --client-fns                  shmix query PMIX_QUERY_ATTRIBUTE_SUPPORT ...
 *     pps                                  shmix ls procs
 *     pctrl --pause --targets NSPACE:RANK  shmix ctl pause --nspace NSPACE --rank RANK
 *     pevent --range RANGE EVENT           shmix events inject EVENT --range RANGE
 *     pmix_info                            what this library is
 *     mpiexec, mpirun                      shmix run; in a separate folder, to be put into PATH
 *
 * Each name is a link to the command.  Its words are translated into the words of a verb, which
 * does the rest. */
#ifndef SX_CLI_FIELD_FIELD_H
#define SX_CLI_FIELD_FIELD_H

#include "launch/common/options.h"

/* Return: the function for the words behind @path, which ends with such a name; NULL: it is another
 * name. */
int (*sx_field_find(const char *path))(char **words);

/* info.c */
int sx_field_info(char **words);

#endif
