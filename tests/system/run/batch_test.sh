# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# batch_test.sh - without -n, `shmix run` has the ranks that a batch system gives this node, and says
# so.  The variables are made up.
. "$(dirname "$0")/lib.sh"

own=$(hostname)
printf '%s\n%s\nelse\n' "$own" "$own" >"$work/pbs"
printf '%s 2 all.q UNDEFINED\nelse 4 all.q UNDEFINED\n' "$own" >"$work/sge"
printf 'else\n' >"$work/elsewhere"
mkfifo "$work/pipe"
sized='echo of $OMPI_COMM_WORLD_SIZE'

# take RANKS WORDS VARIABLES...: so many ranks, and one line that has the words; "": no line
take() {
    want=$1 words=$2
    shift 2
    env "$@" "$SHMIX" run $options sh -c "$sized" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "$*"
    [ "$(sort -u "$work/out")" = "of $want" ] || fail "$*: not $want ranks"
    lines_are "$work/err" "$([ -z "$words" ] && echo 0 || echo 1)" || fail "$*: not one line"
    [ -z "$words" ] || grep -qF -e "$words" "$work/err" || fail "$*: no '$words'"
}

options=
slurm="SLURM_JOB_ID=77 SLURM_NTASKS=3 SLURM_NODEID=0"
# shellcheck disable=SC2086 # lists of variables
{
    take 1 ''
    take 3 'Slurm job 77: starting its 3 ranks; -n N' $slurm SLURM_NNODES=1 SLURM_TASKS_PER_NODE=3
    take 3 'Slurm job 77: starting its 3 ranks' $slurm SLURM_NNODES=1
    take 2 "Slurm job 77 has 2 nodes: starting the 2 ranks of this one; 'srun -n 3 PROGRAM' starts on all" \
        $slurm SLURM_NNODES=2 'SLURM_TASKS_PER_NODE=2,1' 'SLURM_JOB_NODELIST=node[01-02]'
    take 1 'starting the 1 rank of this one' SLURM_JOB_ID=77 SLURM_NTASKS=3 SLURM_NNODES=2 \
        'SLURM_TASKS_PER_NODE=2,1' "SLURM_JOB_NODELIST=else,$own"
    take 1 "has 2 nodes, and '$own' is not one of them: starting 1 rank here; 'srun -n 4 PROGRAM'" \
        SLURM_JOB_ID=77 SLURM_NTASKS=4 SLURM_NNODES=2 'SLURM_JOB_NODELIST=node[01-02]'
    # Tasks of a step start a job each; the shell of `srun --pty` is the only one of its step.
    take 1 "one of 3 tasks of Slurm job 77, and each of them starts a job of its own, with 1 rank" \
        $slurm SLURM_NNODES=1 SLURM_TASKS_PER_NODE=3 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=1
    take 3 'starting its 3 ranks' $slurm SLURM_NNODES=1 SLURM_TASKS_PER_NODE=3 SLURM_STEP_ID=0 \
        SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0
    # A rank of a launcher has no allocation of its own.
    take 1 '' $slurm SLURM_NNODES=1 SLURM_TASKS_PER_NODE=3 OMPI_COMM_WORLD_SIZE=1
    take 2 "PBS job 5.pbs has 2 nodes: starting the 2 ranks of this one; 'mpirun -n 3 PROGRAM'" \
        PBS_JOBID=5.pbs PBS_NODEFILE="$work/pbs"
    take 2 'PBS job 5.pbs: starting its 2 ranks' PBS_JOBID=5.pbs PBS_NODEFILE="$work/none" NCPUS=2
    take 2 'PBS job 5.pbs: starting its 2 ranks' PBS_JOBID=5.pbs PBS_NODEFILE="$work/pipe" NCPUS=2
    take 1 "PBS job 5.pbs has 1 node, and '$own' is not one of them" PBS_JOBID=5.pbs \
        PBS_NODEFILE="$work/elsewhere"
    take 3 'LSF job 6: starting its 3 ranks' LSB_JOBID=6 LSB_DJOB_NUMPROC=3 "LSB_MCPU_HOSTS=$own 3"
    take 2 'LSF job 6 has 2 nodes: starting the 2 ranks of this one' LSB_JOBID=6 \
        "LSB_MCPU_HOSTS=else 4 $own 2"
    take 3 'LSF job 6: starting its 3 ranks' LSB_JOBID=6 LSB_DJOB_NUMPROC=3
    take 4 'Flux job f9: starting its 4 ranks' FLUX_JOB_ID=f9 FLUX_JOB_SIZE=4 FLUX_JOB_NNODES=1
    take 2 "Flux job f9 has 2 nodes: starting the 2 ranks of this one; 'flux run -n 4 PROGRAM'" \
        FLUX_JOB_ID=f9 FLUX_JOB_SIZE=4 FLUX_JOB_NNODES=2
    take 1 'one of 4 tasks of Flux job f9' FLUX_JOB_ID=f9 FLUX_JOB_SIZE=4 FLUX_JOB_NNODES=1 FLUX_TASK_RANK=2
    take 2 'Grid Engine job 8 has 2 nodes: starting the 2 ranks' JOB_ID=8 PE_HOSTFILE="$work/sge" NSLOTS=6

    # A number that is given stands, and what is left unused is told.
    options='-n 2'
    take 2 '' $slurm SLURM_NNODES=1 SLURM_TASKS_PER_NODE=3
    take 2 "Slurm job 77 has 2 nodes: all 2 ranks run on this one; 'srun -n 2 PROGRAM' starts on all" \
        $slurm SLURM_NNODES=2 SLURM_TASKS_PER_NODE=2,1
    options='--host localhost:2'
    take 2 '' $slurm SLURM_NNODES=1 SLURM_TASKS_PER_NODE=3
    options=--quiet
    take 3 '' $slurm SLURM_NNODES=1 SLURM_TASKS_PER_NODE=3

    # CPUs that the user has asked for, where the process has as many; not against a policy.
    options=
    cpus=$(nproc)
    take 1 "starting its 1 rank, with $cpus CPU" SLURM_JOB_ID=77 SLURM_NTASKS=1 SLURM_NNODES=1 \
        SLURM_NODEID=0 SLURM_CPUS_PER_TASK="$cpus"
    take 1 'starting its 1 rank; -n N' SLURM_JOB_ID=77 SLURM_NTASKS=1 SLURM_NNODES=1 SLURM_NODEID=0 \
        SLURM_CPUS_PER_TASK=$((cpus + 1))
    options='--bind-to none'
    take 1 'starting its 1 rank; -n N' SLURM_JOB_ID=77 SLURM_NTASKS=1 SLURM_NNODES=1 SLURM_NODEID=0 \
        SLURM_CPUS_PER_TASK=1
}
options=
sized='grep -q "^Cpus_allowed_list:.*[-,]" /proc/self/status || echo of 1'
take 1 "with 1 CPU each" SLURM_JOB_ID=77 SLURM_NTASKS=1 SLURM_NNODES=1 SLURM_NODEID=0 \
    SLURM_CPUS_PER_TASK=1

# -c is not the number of ranks, as some expect it to be.
run -c 1 true
expect_code 0 "-c without -n"
expect_err 'starting 1 rank with 1 CPU (--cpus-per-rank, -c); -n N starts N ranks' "-c without -n"
run -n 1 -c 1 true
[ ! -s "$work/err" ] || fail "-n and -c: there is a word"

# Without an allocation a terminal is told that it is one rank.
if command -v script >/dev/null; then
    for words in '' '-n 1' --quiet; do
        script -qec "'$SHMIX' run $words true" /dev/null >"$work/out" 2>&1 </dev/null
        [ "$(grep -c 'starting 1 rank; -n N starts N ranks' "$work/out")" -eq \
            "$([ -z "$words" ] && echo 1 || echo 0)" ] || fail "a terminal, with '$words'"
    done
else
    echo "left out: script(1) is not installed, so there is no terminal"
fi

expect_clean "batch systems"
finish
