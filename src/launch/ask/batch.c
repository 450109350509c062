/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* batch.c - a batch system is a row: its variables, and where its list of nodes is. */
#include "launch/ask/sources.h"

#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/process.h"
#include "base/util.h"
#include "launch/common/options.h"
#include "launch/common/say.h"

#define BLANKS " \t\r\n"
#define HOSTS_MAX 65536u /* names in a list */
#define NODES_MAX 4096u  /* nodes that are distinguished */

/* ---- numbers and names ----------------------------------------------------------------------- */

/* The number in the variable @name, which may be NULL.  Return: 0 when there is none. */
static uint32_t number_of(const char *name)
{
    const char *const text = name == NULL ? NULL : getenv(name);
    int64_t number;

    return text != NULL && sx_cli_number(text, 1, UINT32_MAX, &number) ? (uint32_t)number : 0;
}

/* Compare two names of nodes; one of them may have a domain. */
static bool is_same(const char *name, const char *own)
{
    const size_t len = strcspn(name, "."), own_len = strcspn(own, ".");

    return strcasecmp(name, own) == 0 || (len == own_len && strncasecmp(name, own, len) == 0 &&
                                          (name[len] == '\0' || own[own_len] == '\0'));
}

uint32_t sx_run_batch_tasks_at(const char *text, uint32_t index)
{
    while (*text != '\0') {
        char *end;
        const unsigned long tasks = strtoul(text, &end, 10);
        unsigned long times = 1;

        if (end == text || tasks > UINT32_MAX) {
            break;
        }
        if (strncmp(end, "(x", 2) == 0) {
            times = strtoul(end + 2, &end, 10);
            end += *end == ')';
        }
        if (index < times) {
            return (uint32_t)tasks;
        }
        index -= (uint32_t)times;
        text = end + (*end == ',');
    }
    return 0;
}

/* Find the place of @own among the names of @word, a word of a list as "a[01-03,7]".  *count counts
 * all names of the list. */
static bool word_find(const char *word, const char *own, uint32_t *count)
{
    const char *const open = strchr(word, '['), *at = open;
    const char *const close = open == NULL ? NULL : strchr(open, ']');

    if (close == NULL) {
        return is_same(word, own) || (++*count, false);
    }
    while (at < close && *count < HOSTS_MAX) {
        char *end, name[HOST_NAME_MAX + 1];
        const char *const begin = at + 1;
        const unsigned long first = strtoul(begin, &end, 10);
        const int width = (int)(end - begin);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

        for (unsigned long i = first; i <= last && *count < HOSTS_MAX; i++, ++*count) {
            snprintf(name, sizeof(name), "%.*s%0*lu%s", (int)(open - word), word, width, i,
                     close + 1);
            if (is_same(name, own)) {
                return true;
            }
        }
        if (end == begin || (*end != ',' && *end != ']')) {
            break;
        }
        at = end;
    }
    return false;
}

uint32_t sx_run_batch_index_of(const char *list, const char *own)
{
    char *const copy = sx_cli_strdup(list);
    uint32_t count = 0;
    bool found = false, inside = false;
    char *word = copy;

    for (char *at = copy; !found && count < HOSTS_MAX; at++) {
        const char byte = *at;

        inside = byte == '[' || (inside && byte != ']');
        if (byte == '\0' || (byte == ',' && !inside)) {
            *at = '\0';
            found = word_find(word, own, &count);
            word = at + 1;
        }
        if (byte == '\0') {
            break;
        }
    }
    free(copy);
    return found ? count : UINT32_MAX;
}

/* ---- tasks of each node ---------------------------------------------------------------------- */

struct tally {
    struct sx_run_batch *batch;
    const char *own;
    char *names[NODES_MAX];
    uint32_t count;
};

static void tally_add(struct tally *tally, const char *name, uint32_t tasks)
{
    uint32_t i = tally->count;

    while (i > 0 && strcmp(tally->names[i - 1], name) != 0) {
        i--;
    }
    if (i == 0 && tally->count < NODES_MAX) {
        tally->names[tally->count++] = sx_cli_strdup(name);
    }
    tally->batch->tasks += tasks;
    tally->batch->here += is_same(name, tally->own) ? tasks : 0;
}

/* Read "NAME" or, if counted, "NAME NUMBER", at *@text, and advance *@text.  Return: false when
 * there is no word. */
static bool tally_word(struct tally *tally, char **text, bool counted)
{
    const char *const name = strtok_r(NULL, BLANKS, text);
    const char *const number = counted && name != NULL ? strtok_r(NULL, BLANKS, text) : NULL;
    int64_t tasks = 1;

    if (name == NULL ||
        (counted && (number == NULL || !sx_cli_number(number, 1, UINT16_MAX, &tasks)))) {
        return false;
    }
    tally_add(tally, name, (uint32_t)tasks);
    return true;
}

static void tally_file(struct tally *tally, const char *path, bool counted)
{
    struct stat st; /* not a pipe: reading one without a writer would wait */
    FILE *const file = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    char line[1024];

    for (uint32_t i = 0; file != NULL && i < HOSTS_MAX; i++) {
        if (fgets(line, sizeof(line), file) == NULL) {
            break;
        }
        char *rest = line;

        (void)tally_word(tally, &rest,
                         counted); /* the rest of the line has another meaning; skip it */
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* The form of a system's list of nodes. */
enum list {
    LIST_SLURM,  /* "a[01-03],b" and "2(x3),1" */
    LIST_FILE,   /* a line "NAME" for each task */
    LIST_COUNTS, /* a file of lines "NAME NUMBER ..." */
    LIST_PAIRS,  /* "NAME NUMBER NAME NUMBER" */
    LIST_EVEN,   /* no list: all nodes have equally many tasks; also when a list cannot be read */
};

/* @value is the value of the variable: a path, or the list itself.  Return: false when it names no
 * node. */
static bool list_read(enum list kind, const char *value, struct sx_run_batch *batch,
                      const char *own)
{
    struct sx_run_batch read = { .tasks = 0 };
    struct tally *const tally = sx_cli_calloc(1, sizeof(*tally));
    char *const text = sx_cli_strdup(value);

    tally->batch = &read;
    tally->own = own;
    char *rest = text;

    if (kind == LIST_PAIRS) {
        for (uint32_t i = 0; i < HOSTS_MAX && tally_word(tally, &rest, true); i++) {
        }
    } else {
        tally_file(tally, text, kind == LIST_COUNTS);
    }
    const bool any = tally->count > 0;

    for (uint32_t i = 0; i < tally->count; i++) {
        free(tally->names[i]);
    }
    if (any) {
        batch->nodes = tally->count;
        batch->tasks = read.tasks;
        batch->here = read.here;
    }
    free(tally);
    free(text);
    return any;
}

/* In a batch script and in a step the node has a number; elsewhere its name is searched. */
static void slurm_read(struct sx_run_batch *batch, const char *own)
{
    const char *const id = getenv("SLURM_NODEID"), *const list = getenv("SLURM_JOB_NODELIST");
    const char *const tasks = getenv("SLURM_TASKS_PER_NODE");
    uint32_t index = UINT32_MAX;
    int64_t number;

    if (id != NULL && sx_cli_number(id, 0, UINT32_MAX - 1, &number)) {
        index = (uint32_t)number;
    } else if (list != NULL) {
        index = sx_run_batch_index_of(list, own);
    } else if (batch->nodes <= 1) {
        index = 0;
    }
    if (index != UINT32_MAX) {
        batch->here = tasks != NULL       ? sx_run_batch_tasks_at(tasks, index)
                      : batch->nodes <= 1 ? batch->tasks
                                          : 0;
    }
}

/* ---- the systems ----------------------------------------------------------------------------- */

static const struct system {
    const char *name, *mark, *job, *starter; /* an allocation of this system has @mark */
    const char *nodes, *tasks, *cpus;        /* of all nodes; of a task; NULL: no variable */
    const char *step, *step_tasks;           /* if set, this process is one of step_tasks tasks */
    enum list kind;
    const char *list; /* if not set, only tasks and nodes count */
} systems[] = {
    { "Slurm", "SLURM_JOB_ID", "SLURM_JOB_ID", "srun", "SLURM_NNODES", "SLURM_NTASKS",
      "SLURM_CPUS_PER_TASK", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", LIST_SLURM, NULL },
    { "PBS", "PBS_JOBID", "PBS_JOBID", "mpirun", NULL, "NCPUS", NULL, NULL, NULL, LIST_FILE,
      "PBS_NODEFILE" },
    { "LSF", "LSB_JOBID", "LSB_JOBID", "mpirun", NULL, "LSB_DJOB_NUMPROC", NULL, NULL, NULL,
      LIST_PAIRS, "LSB_MCPU_HOSTS" },
    { "Flux", "FLUX_JOB_ID", "FLUX_JOB_ID", "flux run", "FLUX_JOB_NNODES", "FLUX_JOB_SIZE", NULL,
      "FLUX_TASK_RANK", "FLUX_JOB_SIZE", LIST_EVEN, NULL },
    { "Grid Engine", "PE_HOSTFILE", "JOB_ID", "mpirun", "NHOSTS", "NSLOTS", NULL, NULL, NULL,
      LIST_COUNTS, "PE_HOSTFILE" },
};

static void system_read(const struct system *system, struct sx_run_batch *batch, const char *own)
{
    const char *const job = getenv(system->job);

    *batch = (struct sx_run_batch){
        .system = system->name,
        .job = job == NULL ? "?" : job,
        .starter = system->starter,
        .nodes = number_of(system->nodes),
        .tasks = number_of(system->tasks),
        .cpus_each = number_of(system->cpus),
        .step_tasks = system->step != NULL && getenv(system->step) != NULL
                          ? number_of(system->step_tasks)
                          : 0,
    };
    if (system->kind == LIST_SLURM) {
        slurm_read(batch, own);
    } else if (system->list == NULL || getenv(system->list) == NULL ||
               !list_read(system->kind, getenv(system->list), batch, own)) {
        const uint32_t nodes = batch->nodes > 0 ? batch->nodes : 1;

        batch->here = (uint32_t)(((uint64_t)batch->tasks + nodes - 1) / nodes);
    }
}

void sx_run_batch_read(struct sx_run_batch *batch, const char *own)
{
    *batch = (struct sx_run_batch){ .system = NULL };
    for (size_t i = 0; i < SX_COUNT(systems); i++) {
        if (getenv(systems[i].mark) != NULL) {
            system_read(&systems[i], batch, own);
            return;
        }
    }
}

/* ---- use of the allocation ------------------------------------------------------------------- */

static uint32_t cpus_usable(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 0;
}

/* Take hardware threads, as srun counts them.  Ranks stay unbound if the CPUs do not suffice, or a
 * policy is given. */
static bool cpus_take(struct sx_run_options *options, const struct sx_run_batch *batch)
{
    if (batch->cpus_each == 0 || batch->cpus_each > SX_RUN_RANKS_MAX || options->cpus_each > 0 ||
        options->bind != SX_RUN_BIND_NOT_GIVEN || options->map != SX_RUN_LEVEL_NONE ||
        (uint64_t)batch->cpus_each * options->rank_count > cpus_usable()) {
        return false;
    }
    options->cpus_each = batch->cpus_each;
    options->bind = SX_RUN_LEVEL_HWTHREAD;
    return true;
}

__attribute__((format(printf, 2, 3))) static void say(const struct sx_run_options *options,
                                                      const char *fmt, ...)
{
    va_list args;

    if (options->quiet) {
        return;
    }
    va_start(args, fmt);
    char *const text = sx_cli_vprintf(fmt, args);

    va_end(args);
    sx_say("%s", text);
    free(text);
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

struct words {
    char text[64];
};

/* "srun -n 4 PROGRAM" */
static struct words start_of(const struct sx_run_batch *batch, uint32_t tasks)
{
    struct words words, number = { "" };

    if (tasks > 0) {
        snprintf(number.text, sizeof(number.text), " -n %u", tasks);
    }
    snprintf(words.text, sizeof(words.text), "%s%.20s PROGRAM", batch->starter, number.text);
    return words;
}

static void ranks_take(struct sx_run_options *options, const struct sx_run_batch *batch)
{
    const uint32_t here = batch->here < SX_RUN_RANKS_MAX ? batch->here : SX_RUN_RANKS_MAX;
    struct words cpus = { "" };

    options->apps[0].rank_count = options->rank_count = here;
    if (cpus_take(options, batch)) {
        snprintf(cpus.text, sizeof(cpus.text), ", with %u CPU%s each", batch->cpus_each,
                 plural(batch->cpus_each));
    }
    if (batch->nodes > 1) {
        say(options,
            "%s job %s has %u nodes: starting the %u rank%s of this one%s; '%s' starts on all (man "
            "shmix-hosts)",
            batch->system, batch->job, batch->nodes, here, plural(here), cpus.text,
            start_of(batch, batch->tasks).text);
    } else {
        say(options, "%s job %s: starting its %u rank%s%s; -n N starts N ranks", batch->system,
            batch->job, here, plural(here), cpus.text);
    }
}

/* Neither the user nor an allocation has given a number. */
static void one_say(const struct sx_run_options *options)
{
    if (options->cpus_each > 0) {
        say(options, "starting 1 rank with %u CPU%s (--cpus-per-rank, -c); -n N starts N ranks",
            options->cpus_each, plural(options->cpus_each));
    } else if (isatty(STDERR_FILENO) != 0) {
        say(options, "starting 1 rank; -n N starts N ranks");
    }
}

void sx_run_batch_take(struct sx_run_options *options)
{
    const bool open = options->app_count == 1 && options->apps[0].by_default;
    char own[HOST_NAME_MAX + 1];
    struct sx_run_batch batch;

    if (getenv("OMPI_COMM_WORLD_SIZE") != NULL) {
        return; /* this process is a rank of a launcher, perhaps of this one */
    }
    sx_process_nodename(own);
    sx_run_batch_read(&batch, own);
    if (batch.system == NULL) {
        if (open) {
            one_say(options);
        }
    } else if (batch.step_tasks > 1) {
        say(options,
            "this is one of %u tasks of %s job %s, and each of them starts a job of its own, with "
            "%u rank%s: start 'shmix run' once, or let '%s' start the program",
            batch.step_tasks, batch.system, batch.job, options->rank_count,
            plural(options->rank_count), batch.starter);
    } else if (batch.here == 0 && batch.nodes > 0) {
        say(options,
            "%s job %s has %u node%s, and '%s' is not one of them: starting %u rank%s here; '%s' "
            "starts there",
            batch.system, batch.job, batch.nodes, plural(batch.nodes), own, options->rank_count,
            plural(options->rank_count),
            start_of(&batch, open ? batch.tasks : options->rank_count).text);
    } else if (open && batch.here > 0) {
        ranks_take(options, &batch);
    } else if (batch.nodes > 1) {
        say(options,
            "%s job %s has %u nodes: all %u rank%s run on this one; '%s' starts on all (man "
            "shmix-hosts)",
            batch.system, batch.job, batch.nodes, options->rank_count, plural(options->rank_count),
            start_of(&batch, options->rank_count).text);
    } else if (open) {
        one_say(options);
    }
}
