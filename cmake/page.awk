# SPDX-License-Identifier: BSD-3-Clause
# page.awk - a page of docs as a page of the manual.  awk -v name=shmix-hosts -v what="..." -f page.awk
# It knows what those pages use: headings, paragraphs, lists, tables, blocks of code, `code`, **bold** and links.

function plain(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  return text
}

function words(text,    out, at, part) {
  while (match(text, /\[[^]]*\]\([^)]*\)/)) { # a link is its text
    part = substr(text, RSTART + 1, RLENGTH - 1)
    text = substr(text, 1, RSTART - 1) substr(part, 1, index(part, "]") - 1) substr(text, RSTART + RLENGTH)
  }
  text = plain(text)
  out = ""
  while (match(text, /`[^`]*`|\*\*[^*]*\*\*/)) {
    at = substr(text, RSTART, 1) == "`" ? 1 : 2
    out = out substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + at, RLENGTH - 2 * at) "\\fR"
    text = substr(text, RSTART + RLENGTH)
  }
  return out text
}

function line(text) { print (text ~ /^[.']/ ? "\\&" : "") text }

# A paragraph, an item or a heading begins.
function begin(macro) {
  if (macro != ".PP" || !fresh) print macro
  fresh = macro ~ /^.S[HS]/
  open = 0
}

# A line of a table, of which the first says what the columns are; of two columns that is plain.
function row(text,    cells, count, i) {
  gsub(/^\| *| *\|$/, "", text)
  count = split(text, cells, / *\| */)
  if (!tabled) {
    for (i = 1; i <= count; i++) column[i] = count > 2 && cells[i] != "" ? cells[i] ": " : ""
    return
  }
  begin(".TP")
  line("\\fB" words(cells[1]) "\\fR")
  for (i = 2; i <= count; i++) {
    if (i > 2) print ".br"
    line(words(column[i] cells[i]))
  }
}

BEGIN {
  printf ".\\\" SPDX-License-Identifier: BSD-3-Clause\n.\\\" made of docs by cmake/page.awk\n"
  printf ".TH %s 7 2026-11-27 shmix\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n", toupper(name), plain(name), what
  fresh = 1
}

/^ *<!--/ { next }
/^ *```/ {
  if (!coded) begin(".PP")
  print coded ? ".fi\n.RE" : ".RS 4\n.nf"
  coded = !coded
  next
}
coded { line(plain(substr($0, match($0, /^   [^ ]/) && listed ? 4 : 1))); next }
/^# / { next }
/^## / { listed = 0; begin(".SH \"" words(toupper(substr($0, 4))) "\""); next }
/^### / { listed = 0; begin(".SS \"" words(substr($0, 5)) "\""); next }
/^\|[-|]*$/ { next }
/^\|/ { row($0); tabled = 1; next }
{ tabled = 0 }
/^$/ { open = 0; next }
/^\* / { begin(".IP \\(bu 2"); line(words(substr($0, 3))); open = 1; next }
/^[0-9]+\. / { listed = 1; begin(".IP " $1 " 3"); sub(/^[0-9]+\. */, ""); line(words($0)); open = 1; next }
/^    [^ ]/ && !open && !listed { # code without fences
  begin(".PP")
  printf ".RS 4\n.nf\n"
  line(plain(substr($0, 5)))
  printf ".fi\n.RE\n"
  next
}
{
  sub(/^ +/, "")
  if (!open) begin(".PP")
  open = 1
  line(words($0))
}
