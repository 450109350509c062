# SPDX-License-Identifier: BSD-3-Clause
# A recipe for Spack: copy this folder into packages/ of a repository of your own, or, from Spack 1.0 on:
#     spack repo create . site && cp -r packaging/spack/shmix spack_repo/site/packages/
#     spack repo add spack_repo/site
# Before 1.0: spack repo create site && cp -r packaging/spack/shmix site/packages/ && spack repo add site
try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass  # before 1.0 it is in spack.package

from spack.package import *


class Shmix(CMakePackage):
    """A PMIx library and launcher for large compute nodes; data lies in shared memory."""

    license("BSD-3-Clause")

    # `./dev dist` makes the tarball and its checksum; give both here, or `spack develop` a checkout.
    version("develop", branch="main", git="file:///path/to/shmix")

    variant("bench", default=False, description="The programs of the verb bench")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2.4:")
    depends_on("numactl")
    depends_on("liburing@2.3:")
    depends_on("xxhash@0.8:")
    depends_on("zlib-api")
    depends_on("ncurses+termlib")

    provides("pmix@4.2")

    def cmake_args(self):
        return [self.define("SHMIX_TESTS", False), self.define_from_variant("SHMIX_BENCH", "bench")]

    def setup_run_environment(self, env):
        # hwloc, numactl, liburing and ncurses are opened at run time, so no run path names them.
        for name in ("hwloc", "numactl", "liburing", "zlib-api", "ncurses"):
            env.prepend_path("LD_LIBRARY_PATH", self.spec[name].prefix.lib)
