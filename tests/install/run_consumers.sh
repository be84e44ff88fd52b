#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs a build tree, moves the result elsewhere, and uses it as other projects do.
# Usage: run_consumers.sh HOW BUILD_TREE WORK C_COMPILER CXX_COMPILER
#   HOW: install       install to WORK/installed and move it to WORK/moved; the others use that
#        find_package  through CMake
#        pkg_config    through pkg-config
#        headers       each header alone, in every language version that is promised
#        readme        the examples of README.md, compiled and run as they stand there
#        examples      the programs in examples/
set -euo pipefail
how=$1 build=$2 work=$3 cc=$4 cxx=$5
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
prefix=$work/moved

scratch=$(mktemp -d "${TMPDIR:-/tmp}/cairn-consumer.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/c" "$scratch/cc"

# Everything is looked for in the moved tree, wherever its library folder is.
PKG_CONFIG_PATH=$(find "$prefix" -name pkgconfig -type d 2>/dev/null | head -1 || true)
export PKG_CONFIG_PATH
libraries=${PKG_CONFIG_PATH%/pkgconfig}
strict=(-Wall -Wextra -Wpedantic -Werror)

# compile PROGRAM SOURCE: with what pkg-config says, in the language that the source's name says.
compile() {
    local compiler=("$cc" -std=c11) flags
    [ "${2##*.}" = cc ] && compiler=("$cxx" -std=c++20)
    read -ra flags < <(pkg-config --cflags --libs cairn)
    "${compiler[@]}" "${strict[@]}" -o "$1" "$2" "${flags[@]}" "-Wl,-rpath,$libraries"
}

case $how in
    install)
        rm -rf "$work"
        mkdir -p "$work"
        cmake --install "$build" --prefix "$work/installed" >"$work/install.log"
        # The one file that knows where it was installed.
        library=$(sed -n 's/.*"library_path" : "\(.*\)".*/\1/p' "$work/installed/share/cairn/cairn_egl.json")
        [ "$library" -ef "$work/installed/lib/libEGL_cairn.so.0" ] ||
            { echo "the EGL manifest names '$library'" >&2; exit 1; }
        mv "$work/installed" "$prefix"
        for file in include/cairn/cairn.h include/cairn/cairn.hpp include/cairn/cairn_egl.h \
            include/cairn/cairn_control.h include/cairn/cairn_program_cache.h include/cairn/eglext_cairn.h bin/cairn share/doc/cairn/LICENSE \
            share/cairn/cairn_egl.json; do
            [ -f "$prefix/$file" ] || { echo "not installed: $file" >&2; exit 1; }
        done
        # `cairn convert` finds its program where both were moved to, if it was built.
        if [ -f "$build/apps/convert/cairn-convert" ]; then
            "$prefix/bin/cairn" convert --list >"$work/converters"
        fi
        # Nothing may activate itself by being installed.
        [ ! -e "$prefix/share/glvnd" ] || { echo "the EGL manifest is active" >&2; exit 1; }
        # No text file may know the build tree.
        if grep -rIF "$build" "$prefix" | grep -v '"library_path"'; then
            echo "the lines above name the build tree" >&2
            exit 1
        fi
        ;;
    find_package)
        cmake -S "$here/consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug \
            -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >/dev/null
        cmake --build "$scratch/build"
        "$scratch/build/consumer_c" "$scratch/c"
        "$scratch/build/consumer_cc" "$scratch/cc"
        ;;
    pkg_config)
        [ "$(pkg-config --modversion cairn)" = 0.1.0 ]
        compile "$scratch/consumer_c" "$here/consumer/consumer.c"
        compile "$scratch/consumer_cc" "$here/consumer/consumer.cc"
        "$scratch/consumer_c" "$scratch/c"
        "$scratch/consumer_cc" "$scratch/cc"
        ;;
    headers)
        for standard in c11 c17; do
            "$cc" -std=$standard "${strict[@]}" -pedantic-errors -Wstrict-prototypes -Wconversion -fsyntax-only \
                -x c "$prefix/include/cairn/cairn.h"
            for header in cairn_control cairn_egl eglext_cairn; do
                "$cc" -std=$standard "${strict[@]}" -pedantic-errors -Wstrict-prototypes -Wconversion -fsyntax-only \
                    -DEGL_NO_X11 -I"$prefix/include" -x c "$prefix/include/cairn/$header.h"
            done
        done
        for standard in c++17 c++20; do
            "$cxx" -std=$standard "${strict[@]}" -pedantic-errors -Wconversion -fsyntax-only \
                -x c++ "$prefix/include/cairn/cairn.h"
            for header in cairn_control cairn_egl eglext_cairn; do
                "$cxx" -std=$standard "${strict[@]}" -pedantic-errors -Wconversion -fsyntax-only \
                    -DEGL_NO_X11 -I"$prefix/include" -x c++ "$prefix/include/cairn/$header.h"
            done
        done
        for without in '' '-fno-exceptions -fno-rtti'; do
            # shellcheck disable=SC2086
            "$cxx" -std=c++20 "${strict[@]}" -pedantic-errors -Wconversion -Wold-style-cast $without -fsyntax-only \
                -I"$prefix/include" -x c++ "$prefix/include/cairn/cairn.hpp"
        done
        ;;
    readme)
        awk -v folder="$scratch" '
            /^```(c|cpp)$/ { extension = $0 == "```c" ? "c" : "cc"; count[extension]++; on = 1; next }
            /^```$/ { on = 0; next }
            on { print > (folder "/readme" count[extension] "." extension) }' "$top/README.md"
        for source in "$scratch"/readme1.c "$scratch"/readme1.cc; do
            echo "== ${source##*/}"
            [ -f "$source" ] || { echo "README.md has no such example" >&2; exit 1; }
            compile "$scratch/program" "$source"
            # Each example stores in its first run and finds in its second.
            mkdir "$scratch/root"
            CAIRN_DIR=$scratch/root "$scratch/program" | tee "$scratch/first"
            CAIRN_DIR=$scratch/root "$scratch/program" | tee "$scratch/second"
            grep -q '^compiled' "$scratch/first"
            grep -q '^found' "$scratch/second"
            rm -r "$scratch/root"
        done
        ;;
    examples)
        for source in "$top"/examples/*.c "$top"/examples/*.cc; do
            echo "== ${source##*/}"
            compile "$scratch/program" "$source"
            mkdir "$scratch/root"
            CAIRN_DIR=$scratch/root "$scratch/program"
            CAIRN_DIR=$scratch/root "$scratch/program"
            rm -r "$scratch/root"
        done
        ;;
esac
