#!/bin/sh
# SPDX-License-Identifier: MIT
# Copies the documents that are installed to OUT, in the shape that they have in the sources, so that links between them
# lead to them. Links to files that are not installed become plain text.
#
# Usage: cmake/make-documents.sh SOURCE OUT
set -eu
source=$1 out=$2
links=$(cd "$(dirname "$0")" && pwd)/installed-links.awk

rm -rf "$out"
mkdir -p "$out"
cd "$source"
find README.md CHANGELOG.md docs examples -type f ! -path 'docs/man/*' | sort >"$out.list"
while IFS= read -r file; do
    mkdir -p "$out/$(dirname "$file")"
    case $file in
        *.md) awk -v file="$file" -v installed="$out.list" -f "$links" "$file" >"$out/$file" ;;
        *) cp -p "$file" "$out/$file" ;;
    esac
done <"$out.list"
