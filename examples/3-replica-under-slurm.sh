#!/bin/sh
# A job script: sbatch examples/3-replica-under-slurm.sh app.darshan /scratch/me/test
#SBATCH --job-name=replica
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=32
#SBATCH --time=01:00:00
set -eu
log=$1
scratch=$2
results=${3:-replica-$SLURM_JOB_ID}

# Inside a job, workalike starts the engine by srun. --full is the original's scale in bytes and time; --ranks is the
# job's. Data is deleted after the run; results stay in the folder of the job.
workalike replicate "$log" -o "$results" --full --ranks "$SLURM_NTASKS" --nodes "$SLURM_JOB_NUM_NODES" --dir "$scratch"

# Exit code 1 if the replica's bytes or operations are not the original's.
workalike compare "$log" "$results/run.json" --require bytes=0.1%,ops=1% -o "$results/required.json"
