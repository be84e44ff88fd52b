#!/bin/bash
# SPDX-License-Identifier: MIT
# What systemd-tmpfiles removes from a user's caches: temporary files that are old, and nothing else.
# Usage: tmpfiles.sh PACKAGING; exit code 77 where there is no systemd-tmpfiles.
set -euo pipefail
packaging=$1
command -v systemd-tmpfiles >/dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/cairn-tmpfiles.XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CACHE_HOME=$work/cache XDG_RUNTIME_DIR=$work/run XDG_CONFIG_HOME=$work/config
unset CAIRN_DIR
mkdir -m 700 "$work/run" "$work/cache"

fail() {
    echo "$*" >&2
    exit 1
}
clean() { systemd-tmpfiles --user --clean "$packaging/tmpfiles/cairn.conf" 2>&1 | grep . && fail "that was said above"; true; }

# A cache with an entry, as old as can be, and each other name that there is or may be one day.
cache=$XDG_CACHE_HOME/cairn/old
mkdir -p "$cache/recipes" "$cache/discarded-2.tmp" "$cache/format-2"
for name in cache.idx 00000000.val cache.lock leases ghosts about generation layer-X new tmp p mp x.tmpp .hidden .hidden.tmp \
    recipes/inner.tmp ../.control ../top.tmp; do
    echo "$name" >"$cache/$name"
done
for name in cache.idx 00000000.val cache.lock ghosts new tmp .hidden.tmp; do
    echo "$name" >"$cache/format-2/$name"
done
for name in index-1.tmp 00000001.val.tmp order-7.tmp discarded-2.tmp/file format-2/00000002.val.tmp; do
    echo "$name" >"$cache/$name"
    echo "$name" >"$cache/young-${name##*/}"
done
find "$XDG_CACHE_HOME" ! -name 'young-*' -exec touch -h -d '3 years ago' {} +
find "$XDG_CACHE_HOME" ! -type d | sort >"$work/before"
clean
find "$XDG_CACHE_HOME" ! -type d | sort >"$work/after"
gone=$(comm -23 "$work/before" "$work/after" | sed "s,$cache/,," | tr '\n' ' ')
[ "$gone" = "00000001.val.tmp discarded-2.tmp/file format-2/00000002.val.tmp index-1.tmp order-7.tmp " ] || fail "these went: $gone"
[ ! -e "$cache/discarded-2.tmp" ] || fail "the folder of what was discarded is still there"

# Another day, with no cache at all.
rm -rf "$XDG_CACHE_HOME/cairn"
clean
[ ! -e "$XDG_CACHE_HOME/cairn" ] || fail "a cache was made"
