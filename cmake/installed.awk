# SPDX-License-Identifier: BSD-3-Clause
# installed.awk - a page of the sources as it is installed.  A link to a file that is installed leads there, one to a
# page of the manual is its command, and any other link is its text.
# awk -v at=docs/support/ -v installed="README.md docs/tour.md ..." -f installed.awk PAGE

# The path of @target, seen from @at, in the sources.
function resolved(target,    parts, count, i, out, used) {
  count = split(at target, parts, "/")
  used = 0
  for (i = 1; i <= count; i++) {
    if (parts[i] == "..") used--
    else if (parts[i] != "." && parts[i] != "") kept[++used] = parts[i]
  }
  out = ""
  for (i = 1; i <= used; i++) out = out (i > 1 ? "/" : "") kept[i]
  return out
}

# Where the documents have what is docs/NAME in the sources.
function place(path) { sub(/^docs\//, "", path); return path }

function link(text, target,    anchor, path, up, name) {
  if (target ~ /^[a-z]+:/ || target ~ /^#/) return "[" text "](" target ")"
  anchor = match(target, /#/) ? substr(target, RSTART) : ""
  sub(/#.*/, "", target)
  path = resolved(target)
  if (path in known) {
    up = place(at)
    gsub(/[^\/]+/, "..", up)
    return "[" text "](" up place(path) anchor ")"
  }
  if (path ~ /^docs\/man\/.*\.[137]$/) {
    name = path
    sub(/.*\//, "", name)
    sub(/\.[137]$/, "", name)
    return "`man " name "`"
  }
  return text
}

BEGIN {
  count = split(installed, all, " ")
  for (i = 1; i <= count; i++) known[all[i]] = 1
}

/^ *```/ { coded = !coded }
coded { print; next }
/^!\[/ { next } # a picture is not installed
{
  out = ""
  rest = $0
  while (match(rest, /\[[^]]*\]\([^)]*\)/)) {
    found = substr(rest, RSTART, RLENGTH)
    cut = index(found, "](")
    out = out substr(rest, 1, RSTART - 1)
    rest = substr(rest, RSTART + RLENGTH)
    out = out link(substr(found, 2, cut - 2), substr(found, cut + 2, length(found) - cut - 2)) # it matches, too
  }
  print out rest
}
