# SPDX-License-Identifier: BSD-3-Clause
# Remove what the last installation from this build directory has put there, and the directories that
# are named after it.  Others, like bin and lib, stay: they may be anybody's.
# usage: cmake -D MANIFEST=FILE -P uninstall.cmake; DESTDIR as for the installation
if(NOT EXISTS "${MANIFEST}")
  message(FATAL_ERROR "${MANIFEST} is not there: nothing has been installed from this build directory")
endif()
file(STRINGS "${MANIFEST}" files)
foreach(file ${files})
  set(path "$ENV{DESTDIR}${file}")
  if(EXISTS "${path}" OR IS_SYMLINK "${path}")
    message(STATUS "Removing: ${path}")
    file(REMOVE "${path}")
  endif()
  get_filename_component(directory "${path}" DIRECTORY)
  while(directory MATCHES "/(cmake/shmix|include/src(/include)?|doc/shmix(/support)?|(libexec|share)/shmix(/bin|/bench)?)$")
    file(GLOB left "${directory}/*")
    if(NOT left)
      file(REMOVE_RECURSE "${directory}")
    endif()
    get_filename_component(directory "${directory}" DIRECTORY)
  endwhile()
endforeach()
file(REMOVE "${MANIFEST}")
