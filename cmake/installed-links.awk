# SPDX-License-Identifier: MIT
# Makes a page of Markdown ready to be installed: a link that leads to a file which is not installed becomes its text, as
# there is no other place to which it could lead.
#
# Usage: awk -v file=docs/cli.md -v installed=LIST -f installed-links.awk docs/cli.md
# LIST names all installed files, one a line, by their paths in the tree.

BEGIN {
    while ((getline path < installed) > 0) {
        known[path] = 1
        # And its folders.
        while (sub(/\/[^\/]*$/, "", path)) known[path] = 1
    }
    folder = file
    if (!sub(/\/[^\/]*$/, "", folder)) folder = ""
    RS = "\001"  # all of the page at once: the text of a link may go over a line's end
}

# A path without `.` and `..`; "?" for one that leads out of the tree.
function resolved(path,    words, count, i, depth, kept, made) {
    count = split(path, words, "/")
    depth = 0
    for (i = 1; i <= count; ++i) {
        if (words[i] == "" || words[i] == ".") continue
        if (words[i] == "..") {
            if (--depth < 0) return "?"
        } else {
            kept[++depth] = words[i]
        }
    }
    for (i = 1; i <= depth; ++i) made = made (i > 1 ? "/" : "") kept[i]
    return made
}
function is_installed(target) {
    if (target ~ /^[a-z]+:/ || target ~ /^#/) return 1
    sub(/#.*/, "", target)
    return resolved((folder == "" ? "" : folder "/") target) in known
}
# Where the `[` is that belongs to the `]` behind the text.
function opening(text,    i, depth, letter) {
    depth = 1
    for (i = length(text); i > 0; --i) {
        letter = substr(text, i, 1)
        if (letter == "]") ++depth
        if (letter == "[" && --depth == 0) return i
    }
    return 0
}

{
    rest = $0
    while (match(rest, /\]\([^() \n]+\)/)) {
        before = before substr(rest, 1, RSTART - 1)
        link = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        start = opening(before)
        if (start == 0 || is_installed(substr(link, 3, length(link) - 3))) {
            before = before link
        } else {
            text = substr(before, start + 1)
            before = substr(before, 1, start - 1)
            sub(/!$/, "", before)  # of a picture
            before = before text
        }
    }
    printf "%s%s", before, rest
}
