# SPDX-License-Identifier: BSD-3-Clause
# What is installed, where, and how others find it.  All of it is in the manifest, which "uninstall"
# reads.  A package takes one component or several (packaging/package.cmake).
set(SHMIX_INSTALL_PKGCONFIGDIR "" CACHE STRING "Where shmix.pc goes, if not below the library's folder")
set(SHMIX_INSTALL_CMAKEDIR "" CACHE STRING "Where the CMake package goes, if not below the library's folder")
set(SHMIX_INSTALL_FIELDDIR "" CACHE STRING "Where pquery and its like go, if not beside shmix")
install(TARGETS pmix EXPORT shmix
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS shmix RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
install(TARGETS shmix-gateway RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR} COMPONENT library)
install(TARGETS shmix-trace LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/shmix COMPONENT command)
if(SHMIX_INSTALL_FIELDDIR)
  set(field_dir ${SHMIX_INSTALL_FIELDDIR})
else()
  set(field_dir ${CMAKE_INSTALL_BINDIR})
endif()
# command_link(NAME FOLDER DIR): a link to the command, relative, so that a tree can be moved
function(command_link name folder dir)
  get_filename_component(full ${dir} ABSOLUTE BASE_DIR ${CMAKE_INSTALL_PREFIX})
  file(RELATIVE_PATH command ${full} ${CMAKE_INSTALL_FULL_BINDIR}/shmix)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
  file(CREATE_LINK ${command} ${PROJECT_BINARY_DIR}/${folder}/${name} SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/${folder}/${name} DESTINATION ${dir} COMPONENT command)
endfunction()
foreach(name ${SHMIX_FIELD_NAMES}) # the command by other names
  command_link(${name} fields ${field_dir})
  if(NOT name STREQUAL "pquery") # whose page names them all
    file(WRITE ${PROJECT_BINARY_DIR}/man1/${name}.1 ".so man1/pquery.1\n")
  endif()
endforeach()
foreach(name ${SHMIX_LAUNCHER_NAMES})
  command_link(${name} launchers ${CMAKE_INSTALL_LIBEXECDIR}/shmix/bin)
endforeach()
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libshmix.so DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT development)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h")

# ---- the manual: a page for each call is the page that names it ("man shmix_key_find") -------------
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT development
        FILES_MATCHING PATTERN "*.3")
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command
        FILES_MATCHING PATTERN "*.1")
file(GLOB pages CONFIGURE_DEPENDS docs/man/*.3)
foreach(page ${pages})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  get_filename_component(page_name ${page} NAME)
  file(READ ${page} text)
  string(REGEX MATCH "\n\\.SH NAME\n[^\\\\]*" text "${text}")
  string(REGEX MATCHALL "shmix_[a-z0-9_]+" calls "${text}")
  foreach(call ${calls})
    if("${call}.3" STREQUAL page_name) # the page itself, which an alias must not replace
      file(REMOVE ${PROJECT_BINARY_DIR}/man3/${call}.3)
    else()
      file(WRITE ${PROJECT_BINARY_DIR}/man3/${call}.3 ".so man3/${page_name}\n")
    endif()
  endforeach()
endforeach()
# ... and the calls of the standard, by cmake/calls.awk: the headers say what they do
file(GLOB support CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/support/*.md)
set(headers pmix pmix_server pmix_tool pmix_common pmix_deprecated)
list(TRANSFORM headers REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/include/\\1.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers} ${support} cmake/calls.awk)
file(GLOB pages ${PROJECT_BINARY_DIR}/man3/PMIx_*.3 ${PROJECT_BINARY_DIR}/man3/pmix_*.3)
file(REMOVE ${pages} ${PROJECT_BINARY_DIR}/man3/none)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man3)
execute_process(COMMAND awk -v out=${PROJECT_BINARY_DIR}/man3 -f ${PROJECT_SOURCE_DIR}/cmake/calls.awk
                        ${support} ${headers}
                RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "awk makes no manual of the headers: ${failed}")
endif()

# ---- documents: what messages name as docs/NAME.md, with links that lead to what is installed --------
file(GLOB examples RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS examples/*.c)
file(GLOB documents RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS docs/*.md docs/support/*.md)
list(APPEND documents README.md SECURITY.md CHANGELOG.md)
set(installed examples LICENSE ${examples} ${documents})
if(SHMIX_PACKAGE STREQUAL "deb") # whose packages have a copyright file
  list(REMOVE_ITEM installed LICENSE)
endif()
list(JOIN installed " " installed_words)
foreach(document ${documents})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${document})
  get_filename_component(at ${document} DIRECTORY)
  string(REGEX REPLACE "^docs/" "" document_place ${document})
  get_filename_component(folder ${PROJECT_BINARY_DIR}/documents/${document_place} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  if(at)
    string(APPEND at "/")
  endif()
  execute_process(COMMAND awk -v at=${at} -v installed=${installed_words}
                          -f ${PROJECT_SOURCE_DIR}/cmake/installed.awk ${PROJECT_SOURCE_DIR}/${document}
                  OUTPUT_FILE ${PROJECT_BINARY_DIR}/documents/${document_place} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "awk makes no document of ${document}: ${failed}")
  endif()
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/installed.awk)
install(DIRECTORY ${PROJECT_BINARY_DIR}/documents/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documents)
install(FILES ${examples} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT documents)
if("LICENSE" IN_LIST installed)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documents)
endif()
# ... and pages of docs that messages name, made by cmake/page.awk: "man shmix-hosts" is docs/hosts.md
foreach(page "hosts:which launcher starts the ranks, and how"
             "containers:ranks in containers"
             "embedding:start a PMIx server inside a program"
             "troubleshooting:messages, and what to do")
  string(REGEX MATCH "^([a-z]+):(.*)$" page ${page})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS docs/${CMAKE_MATCH_1}.md cmake/page.awk)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man7)
  execute_process(COMMAND awk -v name=shmix-${CMAKE_MATCH_1} -v what=${CMAKE_MATCH_2}
                          -f ${PROJECT_SOURCE_DIR}/cmake/page.awk ${PROJECT_SOURCE_DIR}/docs/${CMAKE_MATCH_1}.md
                  OUTPUT_FILE ${PROJECT_BINARY_DIR}/man7/shmix-${CMAKE_MATCH_1}.7 RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "awk makes no page of docs/${CMAKE_MATCH_1}.md: ${failed}")
  endif()
endforeach()
foreach(section man1 man3 man7)
  if(section STREQUAL "man3")
    set(component development)
  else()
    set(component command)
  endif()
  install(DIRECTORY ${PROJECT_BINARY_DIR}/${section} DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT ${component})
endforeach()

# ---- pkg-config: relative to the .pc file, so that a tree can be moved, unless an absolute directory
# was asked for ----------------------------------------------------------------------------------------
set(pmix_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(shmix_dir ${SHMIX_INSTALL_PKGCONFIGDIR})
if(NOT shmix_dir)
  set(shmix_dir ${pmix_dir})
endif()
foreach(name pmix shmix)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(SHMIX_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
    set(SHMIX_PC_LIBDIR "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(SHMIX_PC_INCLUDEDIR "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
  else()
    file(RELATIVE_PATH SHMIX_PC_PREFIX /x/${${name}_dir} /x)
    string(PREPEND SHMIX_PC_PREFIX "\${pcfiledir}/")
    set(SHMIX_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(SHMIX_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${${name}_dir} COMPONENT development)
endforeach()

# ---- CMake: find_package(shmix) gives shmix::shmix and shmix::pmix ----------------------------------
set(cmake_dir ${SHMIX_INSTALL_CMAKEDIR})
if(NOT cmake_dir)
  set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shmix)
endif()
include(CMakePackageConfigHelpers)
install(EXPORT shmix NAMESPACE shmix:: FILE shmix-targets.cmake DESTINATION ${cmake_dir} COMPONENT development)
configure_package_config_file(cmake/shmix-config.cmake.in ${PROJECT_BINARY_DIR}/shmix-config.cmake
                              INSTALL_DESTINATION ${cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shmix-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shmix-config.cmake ${PROJECT_BINARY_DIR}/shmix-config-version.cmake
        DESTINATION ${cmake_dir} COMPONENT development)

# ---- an environment module ---------------------------------------------------------------------------
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_DATADIR}")
  file(RELATIVE_PATH SHMIX_MODULE_UP /x/${CMAKE_INSTALL_DATADIR}/shmix /x)
  configure_file(packaging/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${CMAKE_INSTALL_DATADIR}/shmix COMPONENT command)
endif()

# ---- a word about where, and the way back ------------------------------------------------------------
install(CODE "set(shmix_libdir \"${CMAKE_INSTALL_LIBDIR}\")" COMPONENT library)
install(SCRIPT cmake/advise.cmake COMPONENT library)
add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -D MANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
          -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
  VERBATIM)
