# SPDX-License-Identifier: MIT
# Fills a man page's source with what a header of the C interface says, which is the contract of each call:
#
#     @synopsis HEADER NAME...    the declarations of calls, behind the line that includes the header
#     @describe HEADER NAME...    the comment of each declaration; of types and constants the declarations, too
#     @head HEADER                the comment at the top of the header
#
# A name that is not there, or a line @... that is not understood, ends it with an error.
#
# Usage: awk -v headers=FOLDER -f expand-page.awk PAGE.scd

function fail(text) {
    print FILENAME ": " text > "/dev/stderr"
    failed = 1
    exit 1
}

# Text for scdoc: nothing in it is markup, but `words` become bold.
function escaped(text) {
    gsub(/[\\*_+]/, "\\\\&", text)
    return text
}
function marked(text,    parts, count, i, made) {
    count = split(text, parts, "`")
    for (i = 1; i <= count; ++i) made = made (i % 2 == 1 ? escaped(parts[i]) : "*" escaped(parts[i]) "*")
    if (made ~ /^[#|;.\[\]-]/) made = "\\" made
    return made
}
function literal(text) {
    gsub(/\\/, "\\\\\\\\", text)
    return text
}
function indent_of(text) {
    match(text, /^ */)
    return RLENGTH
}

# -- printing a comment: paragraphs, lists, results with what they mean, and everything else that is indented

function begin_block(kind) {
    if (block != "" && block != kind) end_block()
    block = kind
}
function end_block() {
    if (block == "literal") print "```"
    print ""
    block = ""
}
function print_comment(text,    lines, count, i, line, indent, rest, list_indent) {
    count = split(text, lines, "\n")
    block = ""
    for (i = 1; i <= count; ++i) {
        line = lines[i]
        indent = indent_of(line)
        rest = substr(line, indent + 1)
        if (rest == "") {
            if (block == "list" && indent_of(lines[i + 1]) > 0) continue
            if (block == "literal" && indent_of(lines[i + 1]) > 2) { print ""; continue }
            if (block != "") end_block()
        } else if (rest ~ /^(- |[0-9]+\. )/ && block != "literal") {
            begin_block("list")
            match(rest, /^(-|[0-9]+\.) +/)
            list_indent = indent + RLENGTH
            print (rest ~ /^-/ ? "- " : ". ") marked(substr(rest, RLENGTH + 1))
        } else if (block == "list" && indent >= list_indent) {
            print "  " marked(rest)
        } else if (indent >= 2 && rest ~ /^(CAIRN_[A-Z_]+|S_OK)((, CAIRN_[A-Z_]+)*$|(, CAIRN_[A-Z_]+)*   *[^ ])/ && block != "literal") {
            if (block == "results" && !explained) print ""
            begin_block("results")
            match(rest, /^[A-Z_]+(, [A-Z_]+)*/)
            print "*" escaped(substr(rest, 1, RLENGTH)) "*"
            sub(/^ +/, "", rest)
            rest = substr(rest, RLENGTH + 1)
            sub(/^ +/, "", rest)
            explained = rest != ""
            if (explained) print "\t" marked(rest)
        } else if (block == "results" && indent > 4) {
            print "\t" marked(rest)
        } else if (indent >= 2) {
            if (block != "literal") { begin_block("literal"); print "```" }
            print literal(line)
        } else {
            begin_block("text")
            print marked(rest)
        }
    }
    if (block != "") end_block()
}

# -- reading a header

function name_of(declaration,    found) {
    if (declaration ~ /^#define /) {
        found = substr(declaration, 9)
        sub(/[ (].*/, "", found)
    } else if (declaration ~ /^CAIRN_API /) {
        match(declaration, /[a-z0-9_]+\(/)
        found = substr(declaration, RSTART, RLENGTH - 1)
    } else if (declaration ~ /^typedef [^{]*\(\*/) {
        match(declaration, /\(\*[a-z0-9_]+/)
        found = substr(declaration, RSTART + 2, RLENGTH - 2)
    } else if (declaration ~ /^enum \{/) {
        match(declaration, /[{\n] *CAIRN_[A-Z0-9_]+ =/)
        found = substr(declaration, RSTART + 1, RLENGTH - 3)
        sub(/^ */, "", found)
    } else {
        found = declaration
        sub(/;[^;]*$/, "", found)
        sub(/.*[ *}\n]/, "", found)
    }
    return found
}
function keep(declaration) {
    ++items
    items_name[items] = name_of(declaration)
    items_text[items] = declaration
    items_comment[items] = comment
    items_comment_id[items] = comment_id
    number_of[present_header, items_name[items]] = items
}
function depth_of(text) {
    return gsub(/\{/, "", text) - gsub(/\}/, "", text)
}
function read_header(header,    path, line, declaration, depth, is_comment, status, is_first) {
    if (present_header == header) return
    present_header = header
    path = headers "/cairn/" header
    is_first = 1
    comment = declaration = ""
    while ((status = (getline line < path)) > 0) {
        if (is_comment) {
            is_comment = line !~ /\*\//
            sub(/ *\*\/.*/, "", line)
            sub(/^ \* ?/, "", line)
            if (line !~ /SPDX-License-Identifier/) comment = comment "\n" line
            if (!is_comment && is_first) { heads[header] = comment; comment = ""; is_first = 0 }
            if (!is_comment && comment ~ /^-----/) comment = ""
        } else if (declaration != "" || line ~ /^[a-z]|^CAIRN_API|^#define [A-Z_]+ /) {
            if (line ~ /^extern "C"/ || line ~ /^static /) continue
            declaration = declaration (declaration == "" ? "" : "\n") line
            depth += depth_of(line)
            if (declaration ~ /^#/ ? line !~ /\\$/ : depth == 0 && line ~ /;[ \t]*(\/\*.*)?$/) {
                # A comment that begins in the last line goes on.
                while (line ~ /\/\*/ && line !~ /\*\// && (getline line < path) > 0) declaration = declaration "\n" line
                keep(declaration)
                declaration = ""
                depth = 0
            }
        } else if (line ~ /^\/\*/) {
            is_comment = line !~ /\*\//
            sub(/^\/\* ?/, "", line)
            sub(/ *\*\/.*/, "", line)
            comment = line
            ++comment_id
            if (comment ~ /^-----/ && !is_comment) comment = ""
        } else if (line == "") {
            comment = ""
            ++comment_id
        }
    }
    if (status < 0) fail("there is no header " path)
    close(path)
}
function item(header, name) {
    read_header(header)
    if (!((header, name) in number_of)) fail(header " declares no " name)
    return number_of[header, name]
}
function is_call(i) { return items_text[i] ~ /^CAIRN_API / }

function print_synopsis(    i, text) {
    print "```"
    print "#include <cairn/" $2 ">"
    for (i = 3; i <= NF; ++i) {
        text = items_text[item($2, $i)]
        sub(/^CAIRN_API /, "", text)
        # Without the width of what was taken away.
        gsub(/\n          /, "\n", text)
        print ""
        print literal(text)
    }
    print "```"
}
function print_description(    i, j, n, names) {
    for (i = 3; i <= NF; i = j) {
        n = item($2, $i)
        names = $i (is_call(n) ? "()" : "")
        for (j = i + 1; j <= NF && items_comment_id[item($2, $j)] == items_comment_id[n]; ++j) {
            names = names ", " $j (is_call(item($2, $j)) ? "()" : "")
        }
        print "## " escaped(names)
        print ""
        if (items_comment[n] != "") print_comment(items_comment[n])
        if (!is_call(n)) {
            print "```"
            for (; i < j; ++i) print literal(items_text[item($2, $i)])
            print "```"
            print ""
        }
    }
}

/^@synopsis / { print_synopsis(); next }
/^@describe / { print_description(); next }
/^@head / { read_header($2); print_comment(heads[$2]); next }
/^@/ { fail("there is no " $1) }
{ print }
END { exit failed }
