#!/bin/bash
# SPDX-License-Identifier: MIT
# BleachBit with the cleaner. Usage: bleachbit.sh PACKAGING CAIRN C_COMPILER LIBCAIRN; exit code 77 where there is no
# bleachbit.
set -euo pipefail
packaging=$1 cairn=$2 cc=$3 library=$4
top=$(cd "$(dirname "$0")/../.." && pwd)
command -v bleachbit >/dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/cairn-bleachbit.XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data
unset CAIRN_DIR DISPLAY WAYLAND_DISPLAY
mkdir -p "$work/bin" "$work/game/d3d12-shader-cache/session" "$HOME/.config/bleachbit/cleaners"
install -m 644 "$packaging/bleachbit/cairn.xml" "$HOME/.config/bleachbit/cleaners/"
ln -s "$cairn" "$work/bin/cairn"
export PATH=$work/bin:$PATH
cd "$work/game"
# The program of the README: it stores a value, or finds it.
program=$work/program
awk '/^```c$/ { on = 1; next } on { print } on && /^}/ { exit }' "$top/README.md" >"$program.c"
"$cc" -std=c11 -I"$top/include" -o "$program" "$program.c" "$library" "-Wl,-rpath,$(dirname "$library")"
echo kept >d3d12-shader-cache/session/cache.idx

fail() {
    echo "$*" >&2
    cat "$work/said" >&2
    exit 1
}
bleachbit_says() { bleachbit "$@" >"$work/said" 2>&1 || fail "bleachbit $* failed"; }

bleachbit_says --list-cleaners
[ "$(grep -c '^cairn\.' "$work/said")" = 2 ] || fail "BleachBit does not know the cleaner"
"$program" >/dev/null
"$program" | grep -q '^found' || fail "nothing was stored"

# A look changes nothing.
bleachbit_says --preview cairn.cache cairn.history
grep -q 'cairn clear --all' "$work/said" || fail "the look does not say what would be done"
"$program" | grep -q '^found' || fail "a look has emptied the cache"

bleachbit_says --clean cairn.cache
! grep -q 'Return code' "$work/said" || fail "the command failed"
"$program" | grep -q '^compiled' || fail "the cache was not emptied"
bleachbit_says --clean cairn.history
! grep -q 'Return code' "$work/said" || fail "the command failed"
"$program" | grep -q '^found' || fail "forgetting has emptied the cache"
[ "$(cat d3d12-shader-cache/session/cache.idx)" = kept ] || fail "a cache in a working directory was touched"
