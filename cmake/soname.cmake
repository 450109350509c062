# SPDX-License-Identifier: BSD-3-Clause
# shmix_soname(RET LIBRARY...): the name under which the loader finds the first LIBRARY at run time
# (src/base/system/library.h), as the headers that we build with want it: "libhwloc.so.15".
# A library may be a script of the linker, which names the file that has the code first.
function(shmix_soname ret library)
  file(READ ${library} start LIMIT 256)
  if(start MATCHES "INPUT\\( *([^ )]+\\.so\\.[^ )]+)")
    set(${ret} ${CMAKE_MATCH_1} PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic ERROR_VARIABLE err)
  if(NOT dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${library} is no shared library: ${err}")
  endif()
  set(${ret} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
