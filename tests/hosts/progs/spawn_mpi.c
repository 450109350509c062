/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn_mpi.c - jobs that MPI programs start, and how the worlds meet.  Each scenario is one word:
 *
 *     world N      all ranks start N children together; merge, sum, disconnect
 *     self N       each rank starts N of its own, all at once
 *     many         two programs in one call; who is which of them, and their arguments
 *     nested N     a child starts a child ... N deep, and the sum of depths comes back
 *     again N      N jobs, one after the other
 *     wdir DIR     MPI_Info: where the child runs
 *     env N=V      MPI_Info: what is in its environment (a line each)
 *     info K=V     MPI_Info: any key; the child must come
 *     error K=V    MPI_Info: any key; the call fails, and the parent lives
 *     missing      a program that there is not; then one that there is
 *     plain        a program that never calls MPI (MPI_Info ompi_non_mpi), nine times 16 of it
 *     meet         two jobs that one rank has started meet at a port of their own
 *     dies         a child is killed while its parents wait for a message of it, and they end as well
 *     apart        a child parts from its parents, and is killed; they go on
 *
 * Rank 0 says "SCENARIO: ok". */
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHILDREN_MAX 64

static int rank, size;
static const char *self;

static void fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("rank %d of %d: ", rank, size);
    vprintf(format, args);
    printf("\n");
    fflush(stdout);
    va_end(args);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int holds, const char *what)
{
    if (!holds) {
        fail("%s", what);
    }
}

static void succeed(int rc, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;

    if (rc != MPI_SUCCESS) {
        MPI_Error_string(rc, text, &len);
        fail("%s: %s", what, text);
    }
}
#define CALL(call) succeed(call, #call)

/* ---- both sides ------------------------------------------------------------------------------ */

/* Everybody of both worlds adds its rank in the merged one.  Return: how many they are. */
static int merge(MPI_Comm inter, int high)
{
    MPI_Comm both;
    int mine, sum = -1, count;

    CALL(MPI_Intercomm_merge(inter, high, &both));
    CALL(MPI_Comm_rank(both, &mine));
    CALL(MPI_Comm_size(both, &count));
    CALL(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, both));
    check(sum == count * (count - 1) / 2, "the sum of the merged world");
    CALL(MPI_Comm_free(&both));
    return count;
}

/* Start @count of this program in @role, from all of @comm. */
static MPI_Comm start(MPI_Comm comm, int count, const char *role, const char *word, MPI_Info info)
{
    char *argv[] = { (char *)"child", (char *)role, (char *)word, NULL };
    int codes[CHILDREN_MAX], remote = -1;
    MPI_Comm children = MPI_COMM_NULL;

    CALL(MPI_Comm_spawn(self, argv, count, info, 0, comm, &children, codes));
    CALL(MPI_Comm_remote_size(children, &remote));
    check(remote == count, "how many have been started");
    for (int i = 0; i < count; i++) {
        check(codes[i] == MPI_SUCCESS, "a child's code");
    }
    return children;
}

static MPI_Info info_of(const char *pair)
{
    MPI_Info info = MPI_INFO_NULL;
    const char *const sign = strchr(pair, '=');
    char key[MPI_MAX_INFO_KEY] = "";

    check(sign != NULL && sign - pair < (long)sizeof(key), "a key and a value");
    memcpy(key, pair, (size_t)(sign - pair));
    CALL(MPI_Info_create(&info));
    CALL(MPI_Info_set(info, key, sign + 1));
    return info;
}

/* ---- the children ---------------------------------------------------------------------------- */

static void child_says(MPI_Comm parent, const char *text)
{
    char line[4096] = "";

    snprintf(line, sizeof(line), "%s", text == NULL ? "" : text);
    CALL(MPI_Send(line, sizeof(line), MPI_CHAR, 0, 7, parent));
}

static void child_descends(MPI_Comm parent, int depth)
{
    int sum = 0;

    if (depth > 1) {
        char word[16];

        snprintf(word, sizeof(word), "%d", depth - 1);
        MPI_Comm below = start(MPI_COMM_WORLD, 1, "nested", word, MPI_INFO_NULL);

        CALL(MPI_Recv(&sum, 1, MPI_INT, 0, 8, below, MPI_STATUS_IGNORE));
        CALL(MPI_Comm_disconnect(&below));
    }
    sum += depth;
    CALL(MPI_Send(&sum, 1, MPI_INT, 0, 8, parent));
}

/* One of the two opens a port, and its parent hands the name to the other. */
static void child_meets(MPI_Comm parent, const char *side)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other = MPI_COMM_NULL;

    if (strcmp(side, "accept") == 0) {
        CALL(MPI_Open_port(MPI_INFO_NULL, port));
        if (rank == 0) {
            CALL(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 9, parent));
        }
        CALL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other));
        check(merge(other, 0) == 2 * size, "how many have met");
    } else {
        if (rank == 0) {
            CALL(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 9, parent, MPI_STATUS_IGNORE));
        }
        CALL(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other));
        check(merge(other, 1) == 2 * size, "how many have met");
    }
    CALL(MPI_Comm_disconnect(&other));
}

static void child(MPI_Comm parent, const char *role, const char *word)
{
    char folder[4096] = "";

    if (strcmp(role, "merge") == 0) {
        merge(parent, 1);
    } else if (strcmp(role, "wdir") == 0) {
        child_says(parent, getcwd(folder, sizeof(folder)));
    } else if (strcmp(role, "env") == 0) {
        child_says(parent, getenv(word));
    } else if (strcmp(role, "nested") == 0) {
        child_descends(parent, atoi(word));
    } else if (strcmp(role, "meet") == 0) {
        child_meets(parent, word);
    } else if (strcmp(role, "dies") == 0) {
        raise(SIGKILL);
    } else if (strcmp(role, "apart") == 0) {
        snprintf(folder, sizeof(folder), "%ld", (long)getpid());
        child_says(parent, folder);
        CALL(MPI_Comm_disconnect(&parent));
        raise(SIGKILL);
    } else if (strcmp(role, "which") == 0) {
        int *which = NULL, flag = 0;

        CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &which, &flag));
        check(flag && *which == atoi(word), "which of the programs this is");
        merge(parent, 1);
    }
    CALL(MPI_Comm_disconnect(&parent));
    MPI_Comm_get_parent(&parent);
    check(parent == MPI_COMM_NULL, "a parent that has gone");
}

/* ---- the scenarios --------------------------------------------------------------------------- */

static void start_and_merge(MPI_Comm comm, int count, MPI_Info info)
{
    MPI_Comm children = start(comm, count, "merge", "", info);
    int parents;

    CALL(MPI_Comm_size(comm, &parents));
    check(merge(children, 0) == parents + count, "how many both worlds are");
    CALL(MPI_Comm_disconnect(&children));
}

static void ask(const char *role, const char *word, MPI_Info info, const char *want)
{
    MPI_Comm children = start(MPI_COMM_WORLD, 1, role, word, info);
    char line[4096] = "";

    if (rank == 0) {
        CALL(MPI_Recv(line, sizeof(line), MPI_CHAR, 0, 7, children, MPI_STATUS_IGNORE));
        if (strcmp(line, want) != 0) {
            fail("%s: the child says '%s', not '%s'", role, line, want);
        }
    }
    CALL(MPI_Comm_disconnect(&children));
}

static void many(void)
{
    char *commands[] = { (char *)self, (char *)self };
    char *first[] = { (char *)"child", (char *)"which", (char *)"0", NULL };
    char *second[] = { (char *)"child", (char *)"which", (char *)"1", NULL };
    char **words[] = { first, second };
    const int counts[] = { 2, 1 };
    const MPI_Info infos[] = { MPI_INFO_NULL, MPI_INFO_NULL };
    int codes[3], remote = -1;
    MPI_Comm children;

    CALL(MPI_Comm_spawn_multiple(2, commands, words, counts, infos, 0, MPI_COMM_WORLD, &children,
                                 codes));
    CALL(MPI_Comm_remote_size(children, &remote));
    check(remote == 3, "how many have been started");
    check(merge(children, 0) == size + 3, "how many both worlds are");
    CALL(MPI_Comm_disconnect(&children));
}

static void nested(const char *word)
{
    const int depth = atoi(word);
    MPI_Comm below = start(MPI_COMM_WORLD, 1, "nested", word, MPI_INFO_NULL);

    if (rank == 0) {
        int sum = -1;

        CALL(MPI_Recv(&sum, 1, MPI_INT, 0, 8, below, MPI_STATUS_IGNORE));
        check(sum == depth * (depth + 1) / 2, "the sum of the depths");
    }
    CALL(MPI_Comm_disconnect(&below));
}

/* Open MPI 4.1 tells the root alone. */
static void expect_error(const char *command, MPI_Info info)
{
    MPI_Comm children = MPI_COMM_NULL;
    int code, class = MPI_SUCCESS;
    const int rc = MPI_Comm_spawn(command, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &children,
                                  &code);

    if (rank == 0) {
        check(rc != MPI_SUCCESS, "a spawn that must fail has not");
        MPI_Error_class(rc, &class);
        printf("the error's class is %s\n", class == MPI_ERR_SPAWN ? "MPI_ERR_SPAWN" : "another");
    }
}

static void plain(void)
{
    MPI_Info info = info_of("ompi_non_mpi=true");
    char *argv[] = { (char *)"-c", (char *)"exit 0", NULL };
    MPI_Comm children = MPI_COMM_NULL;

    /* One is being started while those before it end. */
    for (int i = 0; i < 9; i++) {
        CALL(MPI_Comm_spawn("/bin/sh", argv, 16, info, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE));
    }
}

static void meet(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm one = start(MPI_COMM_WORLD, 2, "meet", "accept", MPI_INFO_NULL);
    MPI_Comm two = start(MPI_COMM_WORLD, 2, "meet", "connect", MPI_INFO_NULL);

    if (rank == 0) {
        CALL(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 9, one, MPI_STATUS_IGNORE));
        CALL(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 9, two));
    }
    CALL(MPI_Comm_disconnect(&one));
    CALL(MPI_Comm_disconnect(&two));
}

static void dies(void)
{
    MPI_Comm children = start(MPI_COMM_WORLD, 1, "dies", "", MPI_INFO_NULL);
    char line[4096];

    CALL(MPI_Recv(line, sizeof(line), MPI_CHAR, 0, 7, children, MPI_STATUS_IGNORE));
    fail("a dead child has sent a message");
}

static void apart(void)
{
    MPI_Comm children = start(MPI_COMM_WORLD, 1, "apart", "", MPI_INFO_NULL);
    char line[4096] = "0";

    if (rank == 0) {
        CALL(MPI_Recv(line, sizeof(line), MPI_CHAR, 0, 7, children, MPI_STATUS_IGNORE));
    }
    CALL(MPI_Comm_disconnect(&children));
    while (rank == 0 && kill((pid_t)atol(line), 0) == 0) {
        usleep(1000); /* until it has ended, and its parent knows */
    }
    CALL(MPI_Barrier(MPI_COMM_WORLD));
}

static void scenario(const char *name, const char *word)
{
    if (strcmp(name, "world") == 0) {
        start_and_merge(MPI_COMM_WORLD, atoi(word), MPI_INFO_NULL);
    } else if (strcmp(name, "self") == 0) {
        start_and_merge(MPI_COMM_SELF, atoi(word), MPI_INFO_NULL);
    } else if (strcmp(name, "many") == 0) {
        many();
    } else if (strcmp(name, "nested") == 0) {
        nested(word);
    } else if (strcmp(name, "again") == 0) {
        for (int i = 0; i < atoi(word); i++) {
            start_and_merge(MPI_COMM_WORLD, 1, MPI_INFO_NULL);
        }
    } else if (strcmp(name, "wdir") == 0) {
        char pair[4096];

        snprintf(pair, sizeof(pair), "wdir=%s", word);
        ask("wdir", "", info_of(pair), word);
    } else if (strcmp(name, "env") == 0) {
        char pair[4096], variable[256] = "";
        const char *const sign = strchr(word, '=');

        snprintf(pair, sizeof(pair), "env=OTHER=1\n%s", word);
        memcpy(variable, word, (size_t)(sign - word));
        ask("env", variable, info_of(pair), sign + 1);
    } else if (strcmp(name, "info") == 0) {
        start_and_merge(MPI_COMM_WORLD, 1, info_of(word));
    } else if (strcmp(name, "error") == 0) {
        expect_error(self, info_of(word));
    } else if (strcmp(name, "missing") == 0) {
        expect_error("/nowhere/program", MPI_INFO_NULL);
        start_and_merge(MPI_COMM_WORLD, 1, MPI_INFO_NULL);
    } else if (strcmp(name, "plain") == 0) {
        plain();
    } else if (strcmp(name, "meet") == 0) {
        meet();
    } else if (strcmp(name, "dies") == 0) {
        dies();
    } else if (strcmp(name, "apart") == 0) {
        apart();
    } else {
        fail("no scenario is called '%s'", name);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_get_parent(&parent);
    self = argv[0];
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
        child(parent, argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "");
    } else if (argc > 1) {
        scenario(argv[1], argc > 2 ? argv[2] : "");
        if (rank == 0) {
            printf("%s: ok\n", argv[1]);
        }
    }
    MPI_Finalize();
    return 0;
}
