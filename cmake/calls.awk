# SPDX-License-Identifier: BSD-3-Clause
# calls.awk - a page of the manual for each chapter of the headers, with what docs/support says of its calls, and
# an alias for each call.  awk -v out=DIRECTORY -f calls.awk docs/support/*.md include/pmix.h ...
#
#   /* ---- A chapter ---- */     a page, called like its first call or like titles[] says
#   /* What it does. */           the text of the declarations behind it, up to the next comment
#   PMIX_EXPORT ...;  typedef ... (*name)(...);      a call, a function that the user provides
#
# "Data helpers" has a page for each comment, which begins with what it is about; its first comment stands in all.

function title(file, chapter, page, text) {
  page_of[file, chapter] = page
  text_of[file, chapter] = text
}

BEGIN {
  title("pmix.h", "Life", "", "connect a process to its server, and end")
  title("pmix.h", "Putting and getting data", "", "put, commit and get data, and meet in fences")
  title("pmix.h", "Events", "", "receive and send events")
  title("pmix.h", "Publishing", "", "publish and look up values")
  title("pmix.h", "Starting and connecting processes", "", "start jobs, and connect processes of several")
  title("pmix.h", "Groups", "", "give a name to some processes")
  title("pmix.h", "Queries, logs and control", "", "ask, log, control and monitor")
  title("pmix.h", "Credentials", "", "get credentials and check them")
  title("pmix.h", "Topology and fabrics", "", "the topology of a node, bindings, distances and fabrics")
  title("pmix.h", "Packing data", "", "pack, unpack, print and compress data")
  title("pmix.h", "Names", "PMIx_Error_string", "names of codes, and texts of values")
  title("pmix_server.h", "Upcalls", "pmix_server_module_t", "the functions that a host provides to its server")
  title("pmix_server.h", "Life", "", "start and end the server inside a host")
  title("pmix_server.h", "Namespaces and clients", "", "tell the server of jobs and processes")
  title("pmix_server.h", "Data of clients", "", "data of clients for other nodes")
  title("pmix_server.h", "Preparing an application", "", "maps, names and settings of an application")
  title("pmix_server.h", "Output, inventory, sets and attributes", "", "output, inventory, process sets and attributes")
  title("pmix_tool.h", "Life and servers", "", "attach a tool to servers")
  title("pmix_tool.h", "Standard streams", "", "output and input of other processes")
  title("pmix_common.h", "Callbacks", "pmix_op_cbfunc_t", "the functions that receive results and events")
  title("pmix_deprecated.h", "Functions", "", "older forms of other calls")
}

function roff(text) {
  gsub(/\\/, "\\e", text)
  return text
}

# A sentence of a comment: its parameters stand out.
function sentence(text,    out) {
  text = roff(text)
  out = ""
  while (match(text, /@[a-z_]+/)) {
    out = out substr(text, 1, RSTART - 1) "\\fI" substr(text, RSTART + 1, RLENGTH - 1) "\\fR"
    text = substr(text, RSTART + RLENGTH)
  }
  return out text
}

# A cell of docs/support: without code marks, and links say in which document their chapter is.
function cell(text,    part, chapter, target) {
  while (match(text, /\[[^]]*\]\([^)]*\)/)) {
    part = substr(text, RSTART + 1, RLENGTH - 2)
    chapter = substr(part, 1, index(part, "]") - 1)
    target = substr(part, index(part, "(") + 1)
    sub(/#.*/, "", target)
    if (target == "") target = FILENAME
    sub(/.*\//, "", target)
    text = substr(text, 1, RSTART - 1) "\"" chapter "\" in docs/support/" target substr(text, RSTART + RLENGTH)
  }
  gsub(/`|\*\*/, "", text)
  return roff(text)
}

function line(text) { body = body (text ~ /^[.']/ ? "\\&" : "") text "\n" }

# The calls of one comment have been read: their names, the text, what docs/support adds.
function group_end(    i, heading) {
  if (group_count == 0) return
  heading = ""
  for (i = 1; i <= group_count; i++) heading = heading (i > 1 ? ", " : "") "\\fB" group[i] "\\fR"
  if (body != "") body = body ".PP\n"
  line(heading)
  body = body ".RS 4\n" comment
  for (i = 1; i <= group_count; i++) {
    if (status[group[i]] == "" || (status[group[i]] == "supported" && note[group[i]] == "")) continue
    body = body ".PP\n"
    line("In this library" (group_count > 1 ? ", " group[i] : "") \
         (status[group[i]] == "supported" ? "" : " (" status[group[i]] ")") ": " note[group[i]] ".")
  }
  body = body ".RE\n"
  group_count = 0
}

function page_end(    i, page, what, path, names, others) {
  group_end()
  if (count > 0) {
    page = page_of[file, chapter] != "" ? page_of[file, chapter] : call[1]
    what = text_of[file, chapter] != "" ? text_of[file, chapter] : subject
    for (i = 1; i <= count; i++) names = names (i > 1 ? ", " : "") call[i]
    path = out "/" page ".3"
    printf ".\\\" SPDX-License-Identifier: BSD-3-Clause\n.\\\" made of include/%s by cmake/calls.awk\n", file >path
    # The title stands twice in the first line: a long one leaves room for one word.
    printf ".TH %s 3 2026-11-27 shmix \"%s\"\n", toupper(page), (length(page) > 24 ? "PMIx" : "Library Functions Manual") >path
    printf ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n.B #include <%s>\n", names, what,
           file ~ /common|deprecated/ ? "pmix.h" : file >path
    printf "%s.fi\n.SH DESCRIPTION\n%s.SH RETURN VALUE\n", synopsis, body (intro ? ".PP\n" intro : "") >path
    printf "A pmix_status_t is PMIX_SUCCESS or a negative code; \\fBPMIx_Error_string\\fR(3) gives its name.\n" >path
    printf "Unless the text above says otherwise, a call is PMIX_ERR_INIT before its library has been\n" >path
    printf "initialised, PMIX_ERR_BAD_PARAM for a NULL where a value is needed, and\n" >path
    printf "PMIX_ERR_NOT_SUPPORTED where this library, or the host, does not offer it.\n" >path
    printf ".SH SEE ALSO\n" >path
    split("PMIx_Init pmix_op_cbfunc_t PMIx_server_init PMIx_tool_init", others, " ")
    for (i = 1; i <= 4; i++) if (others[i] != page) printf ".BR %s (3),\n", others[i] >path
    printf ".BR shmix (1),\n.BR shmix\\-embedding (7)\n" >path
    close(path)
    for (i = 1; i <= count; i++) {
      if (call[i] == page) continue
      path = out "/" call[i] ".3"
      printf ".so man3/%s.3\n", page >path
      close(path)
    }
  }
  count = 0
  body = synopsis = ""
}

# @text is a whole declaration, its lines separated by newlines.
function declare(text,    name, lines, i) {
  name = text
  if (text ~ /^typedef/ && text ~ /\{/) {
    sub(/;[^;]*$/, "", name)
    sub(/.*\} */, "", name)
  } else if (text ~ /^typedef/) {
    sub(/^[^(]*\(\*/, "", name)
    sub(/\).*/, "", name)
  } else {
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
  }
  call[++count] = group[++group_count] = name
  sub(/^PMIX_EXPORT /, "", text)
  if (synopsis != "") synopsis = synopsis ".PP\n"
  split(text, lines, "\n")
  for (i = 1; i in lines; i++) {
    gsub(/"/, "\\(dq", lines[i])
    synopsis = synopsis ".B \"" roff(lines[i]) "\"\n"
  }
}

# ---- docs/support ----
FILENAME ~ /\.md$/ {
  if (match($0, /^\| `PMIx_[A-Za-z0-9_]*` \| (supported|partial|not supported) \|/)) {
    split($0, cells, / \| /)
    gsub(/[| `]/, "", cells[1])
    status[cells[1]] = cells[2]
    sub(/^\| `[^`]*` \| [a-z ]* \| ?/, "")
    sub(/ *\|$/, "")
    note[cells[1]] = cell($0)
  }
  next
}

# ---- the headers ----
FNR == 1 {
  page_end()
  file = FILENAME
  sub(/.*\//, "", file)
  chapter = comment = declared = ""
  commented = 0
}

/^\/\* ---- / {
  page_end()
  chapter = $0
  intro = ""
  sub(/^\/\* ---- /, "", chapter)
  sub(/ -+.*/, "", chapter)
  comment = ""
  next
}

/^\/\*/ && declared == "" {
  group_end()
  if (chapter == "Data helpers") page_end()
  if (chapter == "Data helpers" && comment != "" && intro == "") intro = comment
  comment = subject = ""
  commented = 1
}

commented {
  text = $0
  sub(/^(\/\*| \*) ?/, "", text)
  commented = text !~ /\*\/$/
  sub(/ *\*\/$/, "", text)
  if (comment == "" && subject == "") {
    subject = text
    sub(/[.:;(].*/, "", subject)
    subject = tolower(substr(subject, 1, 1)) substr(subject, 2)
  }
  if (text == "") comment = comment ".PP\n"
  else if (match(text, /^   [a-z]+  +/)) { # a word and what it means
    comment = comment ".TP 11\n\\fB" substr(text, 4, index(substr(text, 4), " ") - 1) "\\fR\n" substr(text, RLENGTH + 1) "\n"
    listed = 1
    next
  } else if (listed) {
    comment = comment ".PP\n" sentence(text) "\n"
    listed = 0
  } else comment = comment (text ~ /^[.']/ ? "\\&" : "") sentence(text) "\n"
  next
}

chapter == "" { next }
declared == "" && (/^PMIX_EXPORT .*\(/ || /^typedef .*\(\*/ || (chapter == "Upcalls" && /^typedef struct/)) {
  declared = $0
  struct = /\{$/
  if (/;$/ && !struct) {
    declare(declared)
    declared = ""
  }
  next
}
declared != "" {
  declared = declared "\n" $0
  if (struct ? /^\}/ : /;$/) {
    declare(declared)
    declared = ""
  }
}

END { page_end() }
