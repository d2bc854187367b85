# A package of a Spack repository: spack repo create; copy this into packages/workalike/.
from spack.package import *


class Workalike(PythonPackage):
    """Replicate the I/O of a real HPC application anywhere, and prove how close the replica came."""

    homepage = "https://pypi.org/project/workalike/"
    pypi = "workalike/workalike-0.9.0.tar.gz"
    license("BSD-3-Clause")

    version("0.9.0")

    variant("engine", default=True, description="Build the engine, which performs replicas under MPI")
    variant("report", default=True, description="Pages with pictures")
    variant("fleet", default=False, description="Many logs in one database, and its portal")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.10:0", type="build")
    depends_on("py-nanobind@2", type="build")
    depends_on("py-numpy@1.24:2", type=("build", "run"))
    depends_on("py-pydantic@2.5:2", type=("build", "run"))
    depends_on("py-pyyaml@6", type=("build", "run"))
    depends_on("py-typer@0.12:0.21", type=("build", "run"))
    depends_on("py-click@8.1:8", type=("build", "run"))
    depends_on("py-rich@13:14", type=("build", "run"))
    depends_on("py-jinja2@3.1:3", type=("build", "run"))

    with when("+engine"):
        depends_on("mpi")
        depends_on("hdf5+mpi")
        depends_on("cli11")
    with when("+report"):
        depends_on("py-matplotlib@3.7:3", type=("build", "run"))
    with when("+fleet"):
        depends_on("py-duckdb@1:2", type=("build", "run"))
        depends_on("py-pyarrow@14:", type=("build", "run"))
        depends_on("py-scipy@1.10:1", type=("build", "run"))
        depends_on("py-starlette@0.37:1", type=("build", "run"))
        depends_on("py-uvicorn@0.25:0", type=("build", "run"))

    def config_settings(self, spec, prefix):
        return {"cmake.define.WORKALIKE_ENGINE": "ON" if "+engine" in spec else "OFF"}
