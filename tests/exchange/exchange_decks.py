"""The decks that the workload-replication paper's authors published, as command lines (docs/reference/macsio-model.md#decks)."""

from __future__ import annotations

A_SLEEPS = (
    "79,56,62,66,67,68,70,70,71,72,72,71,71,70,71,71,72,70,68,67,66,64,63,63,62,59,59,59,59,59,59,59,64,77,89,102,116,"
    "133,151,174,201,233,271,316,373,440,533,671,803"
)
C_SLEEPS = (
    "0.1,28.428095,29.42478,30.969425,42.807,71.786768,102.803702,129.86758,148.84961,173.662348,190.612989,211.148844,"
    "241.350559,255.331408,273.049554,301.79877,321.288325,368.966117,387.53846,399.826781,444.515877,469.550144,"
    "494.560231,471.908218,486.943971,486.218759,487.53118"
)
C_GROWTH = (
    "1.2536943267,1.0320194285,1.1047316761,1.922,1.573227842,1.2341908614,1.1063851433,1.0637494658,1.0577419726,"
    "1.000155046,1.0038509897,1.0138798357,1.0010848488,1.0088415222,1.0013187544,1.0282271254,1.041959085,1.0043446432,"
    "1.0021011853,1.0037321479,1.006385893,1.0005861344,1.0026596087,1.0008367853,1.0006875144,1.0028065563"
)
MESH = "--interface typhonio --parallel_file_mode SIF 1 --part_type unstructured --part_dim 2"

DECKS = {
    "bl_192": f"mpiexec -n 192 macsio {MESH} --part_size 50619 --vars_per_part 9 --num_dumps 2 --sleep_time 38 "
    "--plugin_args --no_collective",
    "mphys_a": f"mpiexec -n 16 macsio {MESH} --part_size 588880 --plot_part_size 91288 --vars_per_part 43 "
    f"--num_dumps 49 --num_plots 50 --sleep_time {A_SLEEPS}",
    "mphys_c": f"mpiexec -n 80 macsio {MESH} --part_size 75100 --plot_part_size 36272 --vars_per_part 43 "
    f"--num_dumps 27 --num_plots 28 --data_growth_sequence {C_GROWTH} --sleep_time {C_SLEEPS}",
    "mphys_e": f"mpiexec -n 80 macsio {MESH} --part_size 2276448 --plot_part_size 4552 --vars_per_part 43 "
    "--num_dumps 3 --num_plots 88 --sleep_time 541.6453,10.8971,201.0781",
}
