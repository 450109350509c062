# SPDX-License-Identifier: BSD-3-Clause
# Called by CPack before a package is made: manual pages and change logs are compressed, without a time,
# so that two builds make the same bytes.  A page that only names another one (".so man3/NAME.3") is a
# link to that one.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/*)
list(FILTER pages INCLUDE REGEX "/share/(man/man[137]/[^/]*\\.[137]|doc/[^/]*/changelog\\.Debian)$")
foreach(page ${pages})
  file(READ ${page} text LIMIT 200)
  if(text MATCHES "^\\.so man[137]/([^\n]+)\n$")
    file(REMOVE ${page})
    file(CREATE_LINK ${CMAKE_MATCH_1}.gz ${page}.gz SYMBOLIC)
  else()
    execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
