# SPDX-License-Identifier: BSD-3-Clause
# The event experiments: PMIx programs that run on whichever libpmix.so.2 their launcher gives them.
file(GLOB event_experiments CONFIGURE_DEPENDS event_*.c)
foreach(source ${event_experiments})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
  target_link_libraries(${name} PRIVATE pmix)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench
                        SKIP_BUILD_RPATH ON)
endforeach()

# In front of another library, so that its messages are not held back by TCP.
add_library(bench_nodelay SHARED compare/preload/nodelay.c)
target_compile_definitions(bench_nodelay PRIVATE _GNU_SOURCE)
set_target_properties(bench_nodelay PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench
                      OUTPUT_NAME nodelay C_VISIBILITY_PRESET default)

# shmix_event_smoke(NAME RANKS ARGUMENTS...)
function(shmix_event_smoke name ranks)
  add_test(NAME bench-${name}
    COMMAND $<TARGET_FILE:shmix> run -n ${ranks} $<TARGET_FILE:${name}> ${ARGN})
  set_tests_properties(bench-${name} PROPERTIES LABELS bench TIMEOUT 120)
endfunction()
if(SHMIX_TESTS AND NOT SHMIX_SANITIZE)
  shmix_event_smoke(event_oneway 2 50)
  shmix_event_smoke(event_burst 4 2000)
  shmix_event_smoke(event_late 2 2 512)
  shmix_event_smoke(event_polling 2 50)
endif()
