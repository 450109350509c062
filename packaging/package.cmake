# SPDX-License-Identifier: BSD-3-Clause
# Packages by CPack: Debian's and RPM's, of the components in cmake/install.cmake.  `./dev package`
# configures with the folders of a distribution (packaging/README.md) and calls it.
set(SHMIX_PACKAGE "" CACHE STRING "deb or rpm: what else that distribution wants installed")
set(CPACK_PACKAGE_NAME shmix)
set(CPACK_PACKAGE_VENDOR "The shmix authors")
set(SHMIX_PACKAGE_CONTACT "The shmix authors <authors@shmix.invalid>" CACHE STRING "Who makes the packages")
set(CPACK_PACKAGE_CONTACT ${SHMIX_PACKAGE_CONTACT})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# CPackDeb puts a summary before that of each package, unless it is CPack's default, which this is.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(components library command development documents)
if(SHMIX_BENCH)
  list(APPEND components measurement)
endif()
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
                                                GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/compress.cmake)

# ---- what a package is for -------------------------------------------------------------------------
# about(COMPONENT SUMMARY TEXT)
macro(about component summary text)
  string(TOUPPER ${component} name)
  set(CPACK_COMPONENT_${name}_DESCRIPTION "${text}")
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${summary}\n${text}")
  string(SUBSTRING "${summary}" 0 1 first)
  string(SUBSTRING "${summary}" 1 -1 rest)
  string(TOUPPER ${first} first)
  set(CPACK_RPM_${component}_PACKAGE_SUMMARY "${first}${rest}")
  set(CPACK_RPM_${component}_PACKAGE_DESCRIPTION "${text}")
endmacro()
about(library "PMIx library for large compute nodes, in shared memory"
"The libpmix.so.2 of shmix: job info, values and events lie in shared memory,
which processes read with plain loads. The library lies in a folder of its
own, beside the libpmix of the distribution.")
about(command "launcher and tools for PMIx and MPI programs on one node"
"shmix run starts MPI programs on this node. Further verbs show
and diagnose the PMIx servers of the node, their jobs and their memory.")
about(development "PMIx library for large compute nodes - headers"
"Headers, manual, pkg-config and CMake files for programs that use PMIx, or
<shmix.h>, the calls that read without a copy.")
about(measurement "PMIx library for large compute nodes - measurement"
"The programs of the verb bench of shmix, which measure this PMIx library
beside another one.")
about(documents "PMIx library for large compute nodes - documents"
"The tour, the pages for hosts, containers and embedding, and the tables of
what is supported.")

# ---- Debian ----------------------------------------------------------------------------------------
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libshmix-pmix2)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME shmix)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION net)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libshmix-pmix-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_MEASUREMENT_PACKAGE_NAME shmix-bench)
set(CPACK_DEBIAN_MEASUREMENT_PACKAGE_SECTION net)
set(CPACK_DEBIAN_MEASUREMENT_PACKAGE_SHLIBDEPS OFF) # it would find the distribution's libpmix.so.2
set(CPACK_DEBIAN_DOCUMENTS_PACKAGE_NAME shmix-doc)
set(CPACK_DEBIAN_DOCUMENTS_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCUMENTS_PACKAGE_ARCHITECTURE all)
set(version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

# Libraries that are opened at run time (src/base/system/library.h): no linker has noted them.
find_program(SHMIX_DPKG_QUERY dpkg-query)
mark_as_advanced(SHMIX_DPKG_QUERY)
# opened_by(RET SONAME...): the packages that have them, with commas
function(opened_by ret)
  set(packages)
  foreach(soname ${ARGN})
    execute_process(COMMAND ${SHMIX_DPKG_QUERY} -S */${soname} OUTPUT_VARIABLE line ERROR_QUIET)
    if(line MATCHES "^([a-z0-9.+-]+)[:,]")
      list(APPEND packages ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES packages)
  list(JOIN packages ", " packages)
  set(${ret} "${packages}" PARENT_SCOPE)
endfunction()
if(SHMIX_DPKG_QUERY)
  opened_by(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS
            ${SHMIX_LIBHWLOC} ${SHMIX_LIBNUMA} ${SHMIX_LIBURING} ${SHMIX_LIBZ})
  opened_by(terminal ${SHMIX_LIBNCURSES})
  set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "libshmix-pmix2 (= ${version}), ${terminal}")
endif()
set(CPACK_DEBIAN_MEASUREMENT_PACKAGE_DEPENDS "shmix (= ${version}), libc6 (>= 2.34), python3")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "shmix-bench, shmix-doc")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libshmix-pmix2 (= ${version})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "shmix-doc")
set(debian ${PROJECT_BINARY_DIR}/debian)
set(SHMIX_PACKAGE_DATADIR ${CMAKE_INSTALL_FULL_DATADIR}/shmix)
foreach(file postinst prerm)
  configure_file(packaging/debian/${file}.in ${debian}/${file} @ONLY)
endforeach()
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${debian}/postinst ${debian}/prerm)
if(SHMIX_PACKAGE STREQUAL "deb") # what Debian's policy wants in each package
  set(SHMIX_PACKAGE_VERSION ${version})
  configure_file(packaging/debian/changelog.in ${debian}/changelog.Debian @ONLY)
  foreach(component ${components})
    string(TOUPPER ${component} name)
    install(FILES packaging/debian/copyright ${debian}/changelog.Debian COMPONENT ${component}
            DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME})
    configure_file(packaging/debian/overrides.in ${debian}/overrides/${CPACK_DEBIAN_${name}_PACKAGE_NAME} @ONLY)
    install(FILES ${debian}/overrides/${CPACK_DEBIAN_${name}_PACKAGE_NAME} COMPONENT ${component}
            DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides)
  endforeach()
endif()

# ---- RPM -------------------------------------------------------------------------------------------
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE 1)
set(CPACK_RPM_PACKAGE_LICENSE BSD-3-Clause)
set(CPACK_RPM_PACKAGE_URL "https://shmix.example")
set(CPACK_RPM_LIBRARY_PACKAGE_NAME shmix-libs)
set(CPACK_RPM_COMMAND_PACKAGE_NAME shmix)
set(CPACK_RPM_DEVELOPMENT_PACKAGE_NAME shmix-devel)
set(CPACK_RPM_MEASUREMENT_PACKAGE_NAME shmix-bench)
set(CPACK_RPM_MEASUREMENT_PACKAGE_REQUIRES "shmix = ${PROJECT_VERSION}, python3")
set(CPACK_RPM_DOCUMENTS_PACKAGE_NAME shmix-doc)
set(CPACK_RPM_DOCUMENTS_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_COMMAND_PACKAGE_REQUIRES "shmix-libs = ${PROJECT_VERSION}")
set(CPACK_RPM_DEVELOPMENT_PACKAGE_REQUIRES "shmix-libs = ${PROJECT_VERSION}")
set(share ${CMAKE_INSTALL_FULL_DATADIR})
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    ${share}/man ${share}/man/man1 ${share}/man/man3 ${share}/man/man7 ${share}/bash-completion
    ${share}/bash-completion/completions
    ${CMAKE_INSTALL_FULL_LIBDIR}/../cmake
    ${CMAKE_INSTALL_FULL_LIBDIR}/../pkgconfig)
# Its libpmix.so.2 lies where the linker does not look by itself: no other package is to be satisfied by it.
set(CPACK_RPM_LIBRARY_PACKAGE_AUTOPROV OFF)

# What the dynamic linker reads by the alternative: the system's libpmix, or this one first.
if(SHMIX_PACKAGE)
  file(WRITE ${PROJECT_BINARY_DIR}/ld.so.conf/system.conf "# the libpmix of the system\n")
  file(WRITE ${PROJECT_BINARY_DIR}/ld.so.conf/shmix.conf "${CMAKE_INSTALL_FULL_LIBDIR}\n")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/ld.so.conf DESTINATION ${CMAKE_INSTALL_DATADIR}/shmix COMPONENT library)
endif()
include(CPack)
