#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes man pages of the sources in a folder: OUT/manN/NAME.N, and links by the other names that a page has in its NAME.
# The date in them is $SOURCE_DATE_EPOCH, or today.
#
# Usage: cmake/make-man-pages.sh SCDOC SOURCES HEADERS VERSION OUT SECTION...
#
# Whatever was in OUT is removed, so that no page stays whose source is gone.
set -eu
scdoc=$1 sources=$2 headers=$3 version=$4 out=$5
shift 5
expand=$(dirname "$0")/expand-page.awk

rm -rf "$out"
for section in "$@"; do
    folder=$out/man$section
    mkdir -p "$folder"
    for source in "$sources"/*."$section".scd; do
        page=$(basename "$source" .scd)
        # What stands in the corners of a page comes to its first line.
        awk -v headers="$headers" -f "$expand" "$source" >"$out/page.scd"
        sed -i "1s/\$/ \"Cairn $version\" \"Cairn\"/" "$out/page.scd"
        "$scdoc" <"$out/page.scd" >"$folder/$page" || {
            echo "$source: not as scdoc wants it" >&2
            exit 1
        }
        names=$(awk '/^# NAME/ { getline; getline; sub(/ - .*/, ""); gsub(/,/, " "); print; exit }' "$source")
        for name in $names; do
            [ "$name.$section" = "$page" ] || ln -sf "$page" "$folder/$name.$section"
        done
    done
done
rm -f "$out/page.scd"
