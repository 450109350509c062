/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign.c - a port for clients of OpenPMIx, and the gateway that answers them when one comes. */
#include "launch/pmi/foreign.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "control/rendezvous.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/state.h"
#include "launch/place/program.h"
#include "launch/pmi/upcall.h"

#define PROGRAM_MAX (16 << 20) /* bytes of a file that are searched for names of libraries */
#define WORDS_SEARCHED 64
#define LIVES_MAX 64u /* gateways that replace a killed one */

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

/* Whether the first program of @program carries such a library itself.  Then it is a host: it
 * had its environment, has not connected by its own choice, and its ranks are its own. */
static bool is_host(const struct sx_run_program *program)
{
    char *const whole = program->path[0] == '/' || program->wdir == NULL
                            ? sx_cli_strdup(program->path)
                            : sx_cli_printf("%s/%s", program->wdir, program->path);
    const bool has_library = library_of(whole) != NULL;

    free(whole);
    return has_library;
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

    if (job->request != NULL) { /* a rank has chosen its words, whose files may not answer */
        return;
    }
    if (job->rank_count < 2 || !has_left(job) || sx_run_upcall_any_counted(job)) {
        return;
    }
    for (uint32_t i = 0; i < job->app_count; i++) {
        const struct sx_run_app *const app = &job->apps[i];
        const bool contains = is_runtime(job->programs[i].path);
        const char *const word = contains || is_host(&job->programs[i])
                                     ? NULL
                                     : started_by(app, &job->programs[i], &library);

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

/* ---- the gateway ----------------------------------------------------------------------------- */

static struct sx_run_job *job_find(const struct sx_run_foreign *foreign, const char *nspace)
{
    for (uint32_t i = 0; i < foreign->run->jobs->count; i++) {
        if (strcmp(foreign->run->jobs->at[i]->nspace, nspace) == 0) {
            return foreign->run->jobs->at[i];
        }
    }
    return NULL;
}

/* Only the first rank is reported to the user. */
static void rank_is_served(struct sx_run_foreign *foreign, const struct sx_gateway_news *news)
{
    const struct sx_run_job *const job = job_find(foreign, news->nspace);

    if (job == NULL || foreign->is_announced || foreign->run->setup->options->quiet) {
        return;
    }
    foreign->is_announced = true;
    sx_run_say(foreign->run,
               "%srank %u has loaded another PMIx library, OpenPMIx %.60s (%s): it is served by a "
               "gateway, a process beside each such rank. Without one, and faster: "
               "--env LD_PRELOAD=%s/libpmix.so.2. In a container that directory has to be mounted "
               "first, at the same path ('man shmix-containers'). --quiet: without this line",
               job->prefix, news->rank, news->version,
               sx_gateway_is_tested(news->number) ? "tested" : "a release that is not tested",
               foreign->lib_dir);
}

static void news_come(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_run_foreign *const foreign = arg;
    struct sx_gateway_news news;

    (void)revents;
    (void)now_ns;
    while (recv(foreign->news.fd, &news, sizeof(news), MSG_DONTWAIT) == (ssize_t)sizeof(news)) {
        if (memchr(news.nspace, '\0', sizeof(news.nspace)) != NULL &&
            memchr(news.version, '\0', sizeof(news.version)) != NULL) {
            rank_is_served(foreign, &news);
        }
    }
}

/* The launcher's environment, with the server that ranks are given.  It names no rank: a process
 * with a job's name in its environment ends with that job. */
static char **gateway_env(struct sx_run_foreign *foreign, char *message)
{
    char **given = sx_cli_calloc(1, sizeof(*given)), **env = NULL;
    static const char *const names[] = { SX_ENV_SERVER_URI, SX_ENV_SERVER_FD };

    if (sx_run_host_setup_fork(foreign->run->jobs->at[0], 0, &given, message)) {
        env = sx_run_env_copy(environ);
        sx_run_env_drop_outer(env);
        for (size_t i = 0; i < SX_COUNT(names); i++) {
            const char *const value = sx_run_env_get(given, names[i]);

            if (value != NULL) {
                sx_run_env_put(&env, names[i], value);
            }
        }
    }
    sx_run_env_free(given);
    return env;
}

/* Return: false with one line in @message. */
static bool gateway_start(struct sx_run_foreign *foreign, char *message)
{
    char *const exe = sx_proc_exe();
    char *const program = exe == NULL ? NULL : sx_gateway_program(exe);
    char **env = NULL;

    snprintf(message, SX_RUN_MESSAGE_MAX, "there is no " SX_GATEWAY_PROGRAM " beside this command");
    if (program != NULL) {
        env = gateway_env(foreign, message);
    }
    if (env != NULL) {
        foreign->pid = sx_gateway_start(&(struct sx_gateway_start){
            .program = program,
            .env = env,
            .listen_fd = foreign->port.fd,
            .life_fd = foreign->life_fd,
            .log_fd = -1,
        });
        snprintf(message, SX_RUN_MESSAGE_MAX, "%s", strerror(errno));
    }
    sx_run_env_free(env);
    free(program);
    free(exe);
    return foreign->pid > 0;
}

/* A client connects.  It waits in the port's queue meanwhile. */
static void client_comes(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_run_foreign *const foreign = arg;
    char message[SX_RUN_MESSAGE_MAX];

    (void)revents;
    (void)now_ns;
    sx_run_unwatch(&foreign->watch); /* the gateway accepts */
    foreign->pid = 0;
    if (foreign->lives++ < LIVES_MAX && gateway_start(foreign, message)) {
        return;
    }
    sx_run_say(foreign->run,
               "a rank has loaded another PMIx library, and the gateway that would serve it cannot "
               "be started: %s. The rank is refused; --env LD_PRELOAD=%s/libpmix.so.2 needs no "
               "gateway",
               foreign->lives > LIVES_MAX ? "too many have been killed" : message,
               foreign->lib_dir);
    sx_gateway_port_close(&foreign->port);
}

bool sx_run_foreign_ended(struct sx_run_foreign *foreign, pid_t pid)
{
    if (pid <= 0 || pid != foreign->pid) {
        return false;
    }
    foreign->pid = 0;
    foreign->watch.fd = foreign->port.fd;
    (void)sx_run_watch(&foreign->run->loop, &foreign->watch, POLLIN);
    return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

int sx_run_foreign_init(struct sx_run_foreign *foreign, struct sx_run_state *run)
{
    int pair[2], why;

    *foreign = SX_RUN_FOREIGN_NULL;
    foreign->run = run;
    foreign->lib_dir = run->setup->lib_dir;
    why = sx_gateway_port_open(&foreign->port);
    if (why != 0) {
        return why == EMFILE || why == ENFILE ? why : 0;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return errno;
    }
    foreign->life_fd = pair[1];
    foreign->news = (struct sx_poll){ .fd = pair[0], .fn = news_come, .arg = foreign };
    foreign->watch = (struct sx_poll){ .fd = foreign->port.fd, .fn = client_comes, .arg = foreign };
    why = sx_run_watch(&run->loop, &foreign->news, POLLIN);
    return why != 0 ? why : sx_run_watch(&run->loop, &foreign->watch, POLLIN);
}

void sx_run_foreign_deinit(struct sx_run_foreign *foreign)
{
    const int news_fd = foreign->news.fd;

    if (foreign->run == NULL) {
        return;
    }
    if (foreign->watch.fd >= 0) {
        sx_run_unwatch(&foreign->watch);
    }
    if (news_fd >= 0) { /* all gateways end with it */
        sx_run_unwatch(&foreign->news);
        close(news_fd);
        close(foreign->life_fd);
    }
    sx_gateway_port_close(&foreign->port);
    *foreign = SX_RUN_FOREIGN_NULL;
}

void sx_run_foreign_env(const struct sx_run_foreign *foreign, char ***env)
{
    if (foreign->port.fd < 0) {
        return;
    }
    for (size_t i = 0; sx_gateway_variables[i] != NULL; i++) {
        sx_run_env_put(env, sx_gateway_variables[i], foreign->port.uri);
    }
    sx_run_env_put(env, "PMIX_GDS_MODULE", SX_GATEWAY_GDS);
    if (sx_run_env_get(*env, "PMIX_BFROP_BUFFER_TYPE") == NULL) {
        sx_run_env_put(env, "PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC");
    }
}
