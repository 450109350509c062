/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign.c - a socket that clients of OpenPMIx connect to; it reads, and never answers. */
#include "launch/pmi/foreign.h"

#include <arpa/inet.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pmix.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/common/say.h"
#include "launch/job/state.h"
#include "launch/place/program.h"
#include "launch/pmi/upcall.h"

#define BACKLOG 128
#define PROGRAM_MAX (16 << 20) /* bytes of a file that are searched for names of libraries */
#define WORDS_SEARCHED 64
#define WORDS_MAX 1024      /* of a client; further words are not read */
#define SPEAKS_WITHIN_SEC 1 /* a connection is accepted when data arrive, or after this time */

/* The variables that servers of OpenPMIx set for clients of each version.  PMIX_SERVER_URI is not
 * among them: programs decide by it which launcher has started them. */
static const char *const names[] = { "PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                                     "PMIX_SERVER_URI21", "PMIX_SERVER_URI2" };

/* Taken from messages of version 4.2: lengths and flags, then texts with their zeros.  The
 * namespace is among them; the rank follows in network order, and then the version. */
bool sx_run_foreign_parse(const uint8_t *bytes, size_t size, const char *nspace, uint32_t *ret_rank,
                          const char **ret_version)
{
    const size_t nspace_size = strlen(nspace) + 1;
    const uint8_t *at = memmem(bytes, size, nspace, nspace_size), *const end = bytes + size;
    uint32_t rank;

    if (at == NULL || (size_t)(end - at) < nspace_size + sizeof(rank)) {
        return false;
    }
    memcpy(&rank, at + nspace_size, sizeof(rank));
    at += nspace_size + sizeof(rank);
    const uint8_t *const zero = memchr(at, '\0', (size_t)(end - at));

    if (zero == NULL || zero == at || zero - at > 64) {
        return false;
    }
    for (const uint8_t *c = at; c < zero; c++) {
        if (*c <= ' ' || *c > '~') {
            return false;
        }
    }
    *ret_rank = ntohl(rank);
    *ret_version = (const char *)at;
    return true;
}

/* Whether the client is a rank of @job.  Only the first one is reported to the user. */
static void job_listen(struct sx_run_foreign *foreign, const struct sx_run_job *job,
                       const uint8_t *words, size_t size)
{
    const char *version;
    uint32_t rank;

    if (!foreign->told && sx_run_foreign_parse(words, size, job->nspace, &rank, &version)) {
        foreign->told = true;
        sx_say("%srank %u has loaded another PMIx library, OpenPMIx %s: it cannot join this job, "
               "whose server is %s, and is on its own. LD_LIBRARY_PATH of the ranks begins with "
               "%s, so a run path in the program or a wrapper goes before it; "
               "--env LD_PRELOAD=%s/libpmix.so.2 goes before both. In a container that directory "
               "has to be mounted first, at the same path (podman run -v %s:%s:ro, apptainer exec "
               "-B %s; 'man shmix-containers')",
               job->prefix, rank, version, PMIx_Get_version(), foreign->lib_dir, foreign->lib_dir,
               foreign->lib_dir, foreign->lib_dir, foreign->lib_dir);
    }
}

/* Programs that run others in containers. */
static const char *const runtimes[] = {
    "apptainer", "bwrap", "ch-run", "crun",    "docker",      "enroot",  "nerdctl",
    "podman",    "runc",  "sarus",  "shifter", "singularity", "udocker",
};

static bool is_runtime(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash != NULL ? slash + 1 : path;

    for (size_t i = 0; i < SX_COUNT(runtimes); i++) {
        if (strcmp(name, runtimes[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The library by which the program at @path, an ELF file, becomes a rank; NULL: none. */
static const char *library_of(const char *path)
{
    static const char *const libraries[] = { "libmpi", "libpmix" };
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    const bool is_file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    const size_t size = !is_file ? 0 : st.st_size < PROGRAM_MAX ? (size_t)st.st_size : PROGRAM_MAX;
    char *const bytes = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    const char *found = NULL;

    if (fd >= 0) {
        close(fd);
    }
    if (bytes == MAP_FAILED) {
        return NULL;
    }
    for (size_t i = 0; i < SX_COUNT(libraries) && found == NULL; i++) {
        if (size > SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0 &&
            memmem(bytes, size, libraries[i], strlen(libraries[i])) != NULL) {
            found = libraries[i];
        }
    }
    munmap(bytes, size);
    return found;
}

/* A program that the words of @app start through another one, as env does.  Return: NULL when there
 * is none; else its word. */
static const char *started_by(const struct sx_run_app *app, const struct sx_run_program *program,
                              const char **ret_library)
{
    const char *const search = sx_run_env_get(program->env, "PATH");
    char message[SX_RUN_MESSAGE_MAX];

    *ret_library = NULL;
    for (size_t i = 1; app->program[0] != NULL && app->program[i] != NULL && i < WORDS_SEARCHED;
         i++) {
        const char *const word = app->program[i];
        char *path = NULL, *whole;

        if (sx_run_program_find(word, program->wdir, search, &path, message) != 0) {
            continue;
        }
        whole = path[0] == '/' || program->wdir == NULL
                    ? sx_cli_strdup(path)
                    : sx_cli_printf("%s/%s", program->wdir, path);
        *ret_library = library_of(whole);
        free(whole);
        free(path);
        if (*ret_library != NULL) {
            return word;
        }
    }
    return NULL;
}

/* No rank was killed by a signal, and the launcher has ended none. */
static bool has_left(const struct sx_run_job *job)
{
    return job->failed_rank == UINT32_MAX ? !job->caused : job->failed_code < SX_RUN_EXIT_SIGNAL;
}

void sx_run_foreign_over(const struct sx_run_foreign *foreign, const struct sx_run_job *job)
{
    const char *library;

    if (job->rank_count < 2 || !has_left(job) || sx_run_upcall_any_counted(job)) {
        return;
    }
    for (uint32_t i = 0; i < job->app_count; i++) {
        const struct sx_run_app *const app = &job->apps[i];
        const bool contains = is_runtime(job->programs[i].path);
        const char *const word = contains ? NULL : started_by(app, &job->programs[i], &library);

        if (word != NULL) {
            sx_say("warning: none of the %u ranks of %s has connected, and '%.80s' uses %s: if "
                   "'%.80s' keeps the environment from it, each is on its own; let it pass on "
                   "PMIX_*, SHMIX_*, OMPI_* and LD_LIBRARY_PATH (env without -i, sudo -E)",
                   job->rank_count, job->name, word, library, app->program[0]);
            return;
        }
        if (contains && job->failed_rank == UINT32_MAX) {
            sx_say("warning: none of the %u ranks of %s has connected: if the container's program "
                   "is to be one job, let '%.80s' pass the environment on (PMIX_*, SHMIX_*) and "
                   "mount '%s' and '%s' at the same paths",
                   job->rank_count, job->name, job->apps[i].program[0], foreign->lib_dir, job->dir);
            return;
        }
    }
}

static void client_speaks(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_run_foreign *foreign = arg;
    uint8_t words[WORDS_MAX];
    const int fd = accept4(foreign->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)revents;
    (void)now_ns;
    if (fd < 0) {
        return;
    }
    const ssize_t got = recv(fd, words, sizeof(words), 0);

    close(fd);
    for (uint32_t i = 0; got > 0 && i < foreign->jobs->count; i++) {
        job_listen(foreign, foreign->jobs->at[i], words, (size_t)got);
    }
}

/* Return: the socket, or -1 and errno. */
static int listen_on_loopback(struct sockaddr_in *address)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int seconds = SPEAKS_WITHIN_SEC;
    struct sockaddr *const any = (struct sockaddr *)(void *)address;
    socklen_t size = sizeof(*address);

    *address = (struct sockaddr_in){ .sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof(seconds)) != 0 ||
        bind(fd, any, size) != 0 || listen(fd, BACKLOG) != 0 || getsockname(fd, any, &size) != 0) {
        const int why = errno;

        if (fd >= 0) {
            close(fd);
        }
        errno = why;
        return -1;
    }
    return fd;
}

int sx_run_foreign_init(struct sx_run_foreign *foreign, struct sx_run_loop *loop,
                        const struct sx_run_jobs *jobs, const char *lib_dir)
{
    struct sockaddr_in address;

    *foreign = (struct sx_run_foreign){ .jobs = jobs, .lib_dir = lib_dir };
    foreign->watch = (struct sx_poll){ .fd = listen_on_loopback(&address),
                                       .fn = client_speaks,
                                       .arg = foreign };
    if (foreign->watch.fd < 0) {
        return errno == EMFILE || errno == ENFILE ? errno : 0;
    }
    foreign->uri = sx_cli_printf("shmix.0;tcp4://127.0.0.1:%u", ntohs(address.sin_port));
    return sx_run_watch(loop, &foreign->watch, POLLIN);
}

void sx_run_foreign_deinit(struct sx_run_foreign *foreign)
{
    if (foreign->uri != NULL) {
        sx_poll_remove(&foreign->watch);
        close(foreign->watch.fd);
    }
    free(foreign->uri);
    *foreign = (struct sx_run_foreign){ .watch.fd = -1 };
}

void sx_run_foreign_env(const struct sx_run_foreign *foreign, char ***env)
{
    for (size_t i = 0; foreign->uri != NULL && i < SX_COUNT(names); i++) {
        sx_run_env_put(env, names[i], foreign->uri);
    }
}
