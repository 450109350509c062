/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* directive_tables_test.c - docs/support/attributes.md says of each function which directives it
 * takes: the tables do. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/call/directive_tables.h"
#include "base/util.h"
#include "launch/ask/spawn_request.h"

#define HEAD "## Directives of each function\n"

/* The line of the document that @table wants.  Directives of our own programs are nobody else's. */
static char *line_of(const struct sx_directives *table)
{
    char *line = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&line, &size);

    cr_assert_not_null(out);
    fprintf(out, "| `%s` |", table->function);
    for (unsigned effect = SX_DIRECTIVE_OBEYED; effect <= SX_DIRECTIVE_IDLE; effect++) {
        const char *separator = " ";

        for (size_t i = 0; i < table->count; i++) {
            if (table->rows[i].effect == effect && strncmp(table->rows[i].name, "SX_", 3) != 0) {
                fprintf(out, "%s`%s`", separator, table->rows[i].name);
                separator = ", ";
            }
        }
        fputs(" |", out);
    }
    fputc('\n', out);
    cr_assert_eq(fclose(out), 0);
    return line;
}

/* All tables: those of the library's functions, and those of a spawn under `shmix run`. */
static const struct sx_directives *table_at(size_t index)
{
    return index < SX_FUNCTION_COUNT    ? &sx_directives_of[index]
           : index == SX_FUNCTION_COUNT ? &sx_spawn_job_directives
                                        : &sx_spawn_app_directives;
}

#define TABLES (SX_FUNCTION_COUNT + 2)

static char document[1 << 20];

static void document_read(void)
{
    FILE *const in = fopen(SHMIX_TESTS_FOLDER "/../docs/support/attributes.md", "r");

    cr_assert_not_null(in);
    const size_t size = fread(document, 1, sizeof(document) - 1, in);
    cr_assert(feof(in));
    document[size] = '\0';
    fclose(in);
}

Test(options, the_document_has_the_line_of_each_table_and_no_other)
{
    document_read();
    char *const head = strstr(document, HEAD);
    size_t lines = 0;

    cr_assert_not_null(head, "no section " HEAD);
    char *const end = strstr(head + strlen(HEAD), "\n## ");
    cr_assert_not_null(end);
    *end = '\0';
    for (const char *at = head; (at = strstr(at, "\n| `")) != NULL; at++) {
        lines++;
    }
    for (size_t i = 0; i < TABLES; i++) {
        char *const line = line_of(table_at(i));

        cr_expect_not_null(strstr(head, line), "docs/support/attributes.md lacks this line:\n%s",
                           line);
        free(line);
        lines--;
    }
    cr_expect_eq(lines, 0, "docs/support/attributes.md has lines that no table wants");
}

Test(options, what_is_obeyed_goes_into_a_field_and_nothing_else_does)
{
    for (size_t i = 0; i < TABLES; i++) {
        const struct sx_directives *const table = table_at(i);

        cr_assert_not_null(table->function, "entry %zu", i);
        for (size_t j = 0; j < table->count; j++) {
            const struct sx_directive *const row = &table->rows[j];

            cr_expect_eq(row->effect == SX_DIRECTIVE_OBEYED, row->kind != SX_DIRECTIVE_NOTHING,
                         "%s: %s", table->function, row->key);
            cr_expect_eq(row->key_size, strlen(row->key) + 1, "%s: %s", table->function, row->key);
            cr_expect(row->kind != SX_DIRECTIVE_NUMBER || row->arg != 0, "%s: %s", table->function,
                      row->key);
        }
    }
}
