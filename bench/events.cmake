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
