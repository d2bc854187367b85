-- A module file (Lmod) for an installation in one folder, made by
--   python3 -m venv /apps/workalike/0.9.0 && /apps/workalike/0.9.0/bin/pip install 'workalike[report,study]'
--   module load openmpi hdf5-parallel
--   /apps/workalike/0.9.0/bin/workalike engine build --prefix /apps/workalike/0.9.0/engines
help([[Replicate the I/O of a real HPC application anywhere: workalike --help]])
whatis("Name: workalike")
whatis("Version: 0.9.0")
local root = "/apps/workalike/0.9.0"
depends_on("openmpi")
prepend_path("PATH", pathJoin(root, "bin"))
setenv("WORKALIKE_ENGINES", pathJoin(root, "engines"))
