# SPDX-License-Identifier: BSD-3-Clause
# At the end of an installation: where the dynamic linker looks by itself, this libpmix.so.2 takes the
# place of the system's for every program.
get_filename_component(shmix_libdir "${shmix_libdir}" ABSOLUTE BASE_DIR "${CMAKE_INSTALL_PREFIX}")
if(shmix_libdir MATCHES "^/(usr/(local/)?)?lib(64|/[^/]*-linux-gnu[^/]*)?$")
  message(STATUS "Note: once ldconfig has run, ${shmix_libdir}/libpmix.so.2 is the PMIx of every "
    "program here that asks for one, before or instead of the system's. To have it beside that, "
    "install into a prefix of its own: cmake --install BUILD --prefix /opt/shmix")
endif()
