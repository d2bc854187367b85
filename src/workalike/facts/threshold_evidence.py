"""Known logs, or a test, that change when a threshold of `thresholds.py` is halved or doubled."""

from __future__ import annotations

SEEN_ON: dict[str, tuple[str, ...]] = {
    "level_explains": (
        "checkpoints-4",
        "h5py-series-1",
        "hdf5-states-4",
        "example",
    ),
    "level_minor": (
        "test: tests/facts/test_levels_by_hand.py::test_a_direction_of_next_to_nothing_follows_the_other",
    ),
    "level_metadata": (
        "test: tests/characterize/test_levels.py::test_metadata_may_be_more_than_hardly_any_data",
    ),
    "level_filled": (
        "test: tests/facts/test_levels_by_hand.py::test_fill_values_are_chunked_data_written_twice",
    ),
    "noise_negligible": (
        "cp2k-2",
        "gromacs-2",
        "nwchem-scratch-4-dxt2",
        "quantum-espresso-2",
    ),
    "noise_negligible_all": (
        "test: tests/characterize/test_noise.py::test_negligible_groups_are_limited_together",
    ),
    "noise_patterns": ("test: tests/characterize/test_noise.py::test_few_files_are_never_negligible",),
    "noise_folder_stats": (
        "test: tests/characterize/test_noise.py::test_a_folder_is_program_start_up_to_what_a_loader_asks",
    ),
    "dataset_uneven": (
        "test: tests/characterize/test_data_sets_found.py::test_readers_that_take_the_next_file_share_unevenly",
    ),
    "dataset_sequential": (
        "test: tests/characterize/test_data_sets_found.py::test_the_data_set_of_a_run_is_found",
    ),
    "dataset_sequential_files": (
        "pytorch-loader",
        "training-loop-4",
    ),
    "dataset_least": (
        "test: tests/characterize/test_data_sets_found.py::test_files_that_are_read_in_pieces",
    ),
    "gap_least": (
        "test: tests/characterize/test_states_by_hand.py::test_a_pause_is_half_a_second_and_a_hundredth_of_the_span",
    ),
    "gap_share": (
        "test: tests/characterize/test_states_by_hand.py::test_a_pause_is_half_a_second_and_a_hundredth_of_the_span",
    ),
    "placed_consecutive": ("openfoam-2",),
    "placed_sequential": (
        "hdf5-states-4",
        "root-writes-4",
        "example",
    ),
    "placed_covers": (
        "root-writes-4",
        "cp2k-2",
    ),
    "placed_replicated": (
        "root-writes-4",
        "pq_app_readAB_writeC_id71326_7-31-5658-2037904274838284930_55623",
        "collective-read-2048",
        "e3sm-pnetcdf-512",
    ),
    "rank_sets_opens": ("test: tests/characterize/test_families.py::test_a_rank_that_leaves_a_dump_out",),
    "reopened_opens": (
        "test: tests/characterize/test_one_name.py::test_files_that_are_opened_again_and_again",
    ),
    "state_least": ("test: tests/characterize/test_states_by_hand.py::test_states_that_libraries_count",),
    "state_begins": (
        "hdf5-states-4",
        "lammps-growth-4",
        "meep-hdf5-4",
        "mphys-c-small-typhonio-4",
    ),
    "state_ends": (
        "hdf5-states-4",
        "lammps-growth-4",
        "meep-hdf5-4",
        "mphys-c-small-typhonio-4",
    ),
    "state_span": ("test: tests/characterize/test_states.py::test_a_file_written_at_once_has_no_states",),
    "active_all": (
        "root-writes-4",
        "pq_app_read_id71317_7-31-5657-2037904274838284930_55623",
        "pq_app_read_id71344_7-31-5658-2037904274838284930_55623",
        "pq_app_write_id71296_7-31-5657-2037904274838284930_55623",
    ),
    "rewritten": ("nwchem-scratch-4-dxt2",),
    "small_operation": (
        "mphys-c-small-typhonio-4",
        "quantum-espresso-2",
    ),
    "near_sizes": (
        "e3sm-pnetcdf-512",
        "imbalanced-496",
    ),
    "segments_interleaved": (
        "root-writes-4",
        "mphys-c-small-typhonio-4",
        "mpi-io-test-ppc64-3.0.0",
        "mpi-io-test-ppc64-3.1.6",
    ),
    "passes_most": (
        "cp2k-2",
        "quantum-espresso-2",
    ),
    "aggregators_fewer": (
        "example",
        "pq_app_readAB_writeC_id71326_7-31-5658-2037904274838284930_55623",
        "e3sm-pnetcdf-512",
    ),
    "alignment_share": ("test: tests/characterize/test_tunables.py::test_alignment_of_hdf5_files",),
    "shapes_most": ("shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158",),
    "root_writers": (
        "noposixopens",
        "cp2k-2",
        "gromacs-2",
        "quantum-espresso-2",
    ),
    "deflate_most": ("test: tests/characterize/test_filters.py::test_what_the_file_has_of_the_data",),
    "deflate_metadata": ("test: tests/characterize/test_filters.py::test_what_the_file_has_of_the_data",),
    "deflate_index": ("test: tests/characterize/test_filters.py::test_what_the_file_has_of_the_data",),
    "deflate_level": (
        "test: tests/characterize/test_filters.py::test_filters_need_one_rank_or_collective_calls",
    ),
    "mesh_reads": (
        "test: tests/characterize/test_meshes.py::test_a_library_that_appends_reads_little_of_its_own",
    ),
    "baton_share": ("test: tests/characterize/test_families.py::test_baton",),
    "root_bytes": (
        "test: tests/characterize/test_sharing.py::test_equal_reads_are_not_those_of_the_one_writer",
    ),
    "long_lived_holds": ("dxt",),
    "size_step": (
        "imbalanced-496",
        "nonmpi-dxt-1",
    ),
    "rotation_least": ("test: tests/characterize/test_families.py::test_another_single_rank_each_dump",),
    "skew_share": ("test: tests/characterize/test_skew.py::test_half_a_per_cent_of_the_run_counts",),
    "skew_least": ("test: tests/characterize/test_skew.py::test_less_than_five_milliseconds_do_not",),
    "skew_noise": ("test: tests/characterize/test_skew.py::test_the_noise_decides",),
    "barrier_spread": ("nwchem-scratch-4-dxt2",),
    "window_share": ("test: tests/characterize/test_windows.py::test_only_what_is_new_is_stated",),
    "window_least": (
        "test: tests/characterize/test_windows.py::test_without_a_run_time_a_millisecond_counts",
    ),
    "holes_most": (
        "test: tests/characterize/test_holes.py::test_a_file_of_which_little_was_written_was_there_before",
    ),
    "reopened_uneven": ("test: tests/characterize/test_opened_anew.py::test_a_first_dump_that_took_long",),
    "life_share": ("test: tests/characterize/test_lives.py::test_noise_is_no_life",),
    "life_least": ("test: tests/characterize/test_lives.py::test_a_short_run_has_no_lives",),
    "shuffled_deviations": (
        "test: tests/characterize/test_search_of_readings.py::test_random_order_of_few_operations_stays_in_regions",
    ),
    "ranks_even": ("test: tests/characterize/test_streams.py::test_ranks_of_equal_records_are_one_stream",),
    "series_least": (
        "cp2k-2",
        "quantum-espresso-2",
    ),
    "series_operations": (
        "test: tests/characterize/test_states.py::test_a_buffering_library_makes_an_extra_call_now_and_then",
    ),
    "compute_least": (
        "checkpoints-4",
        "root-writes-4",
        "pq_app_readAB_writeC_id71326_7-31-5658-2037904274838284930_55623",
        "e3sm-pnetcdf-512",
    ),
    "trace_runs": ("training-loop-4",),
    "trace_overlap": (
        "test: tests/facts/test_traces_by_hand.py::test_a_trace_overlaps_where_it_moves_more_than_five_per_cent_twice",
    ),
    "trace_alike": ("test: tests/characterize/test_exact.py::test_patterns_are_read_off",),
    "trace_dense": ("ior-shifted-readers-8",),
    "trace_forward": (
        "ior-segments-6",
        "ior-shifted-readers-8",
    ),
    "array_owed": ("test: tests/characterize/test_arrays.py::test_boxes_of_unknown_shape_move_the_elements",),
    "role_checkpoint": (
        "dxt",
        "cp2k-2",
        "meep-hdf5-4",
        "mphys-c-small-typhonio-4",
    ),
    "role_line": ("test: tests/characterize/test_roles.py::test_lines_of_text_are_no_visualisation",),
}
"""Up to four known logs per row: PyDarshan's examples, those of `tests/data` and those beside the repository; or a test.

A test is named as `test: PATH::NAME`, where no known log shows the threshold: its log, or its verdict, changes.
"""
