#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs a build tree, moves the result elsewhere, and uses it as other projects do.
# Usage: run_consumers.sh HOW BUILD_TREE WORK C_COMPILER CXX_COMPILER
#   HOW: install       install to WORK/installed and move it to WORK/moved; the others use that
#        find_package  through CMake
#        pkg_config    through pkg-config, shared and static
#        library_only  the sources, configured for the library alone
#        subproject    the sources, as a part of another CMake project
#        headers       each header alone, in every language version that is promised
#        readme        the examples of README.md, compiled and run as they stand there
#        convert       the same for docs/convert.md, which finds the program that converts
#        d3d12_page    the programs of docs/d3d12.md, by the command that stands there below each
#        examples      the programs in examples/, in C and C++
#        python, rust  those in these languages; skipped where there is none
#        project_cmake, project_meson   examples/project with that build system: the installed library and the sources
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

# compile PROGRAM SOURCE [PACKAGE... [-lLIBRARY...]]: with what pkg-config says, in the language that the source's name says.
compile() {
    local compiler=("$cc" -std=c11) program=$1 source=$2 flags packages=() more=()
    shift 2
    [ "${source##*.}" = cc ] && compiler=("$cxx" -std=c++20)
    for word in "${@:-cairn}"; do
        case $word in
            -l*) more+=("$word") ;;
            *) packages+=("$word") ;;
        esac
    done
    read -ra flags < <(pkg-config --cflags --libs "${packages[@]}")
    "${compiler[@]}" "${strict[@]}" -o "$program" "$source" "${flags[@]}" "${more[@]}" "-Wl,-rpath,$libraries"
}

# What the comment at the top of an example says behind `pkg-config --cflags --libs`.
needs_of() {
    { head -n 15 "$1" | tr -d '\n*'; echo; } | sed 's,//, ,g' |
        sed -nE 's/.*pkg-config --cflags --libs ([a-z0-9 -]+)\)(( +-l[a-z0-9-]+)*).*/\1 \2/p'
}

# stores_then_finds PROGRAM...: what the first run makes, the second finds.
stores_then_finds() {
    rm -rf "$scratch/root"
    CAIRN_DIR=$scratch/root "$@" | tee "$scratch/first"
    CAIRN_DIR=$scratch/root "$@" | tee "$scratch/second"
    grep -q '^compiled' "$scratch/first"
    grep -q '^found' "$scratch/second"
}

# is_program_cache PROGRAM...: it does so, three that start at once compile once, and it goes on where there is no cache.
is_program_cache() {
    local each pids=()
    stores_then_finds "$@"
    rm -rf "$scratch/root"
    for each in 1 2 3; do
        CAIRN_DIR=$scratch/root "$@" >"$scratch/at_once$each" &
        pids+=($!)
    done
    for each in "${pids[@]}"; do wait "$each"; done
    [ "$(sort "$scratch"/at_once? | sed 's/[, ].*//' | tr '\n' ' ')" = 'compiled found found ' ] ||
        { head "$scratch"/at_once? >&2; exit 1; }
    CAIRN_DIR=/dev/null/none "$@" >"$scratch/first" 2>"$scratch/errors"
    grep -q '^compiled' "$scratch/first"
    grep -q '^no cache: .' "$scratch/errors"
}

needs_no_libcairn() {
    if readelf --dynamic "$1" | grep 'NEEDED.*libcairn'; then
        echo "$1 is not linked statically" >&2
        exit 1
    fi
}

# A build tree that looked for nothing that the tools need, and compiles with warnings as such.
library_alone() {
    if grep -iE '^[^:/#]*(egl|glvnd|opengl|cli11|fmt|json|glslang|spirv|seccomp|vkd3d|gtest|sodium)' "$1/CMakeCache.txt"; then
        echo "the library needs what is above" >&2
        exit 1
    fi
    if grep -e -Werror "$1/compile_commands.json"; then
        echo "somebody else's warnings would be errors" >&2
        exit 1
    fi
}

case $how in
    install)
        rm -rf "$work"
        mkdir -p "$work"
        cmake --install "$build" --prefix "$work/installed" >"$work/install.log"
        # The files that know where they were installed. Each is alone in its folder, which libEGL is told of.
        for manifest in cairn_egl last/cairn_egl_last; do
            manifest=$work/installed/share/cairn/$manifest.json
            library=$(sed -n 's/.*"library_path" : "\(.*\)".*/\1/p' "$manifest")
            case $manifest in *last.json) named=libEGL_cairn_last.so.0 ;; *) named=libEGL_cairn.so.0 ;; esac
            [ "$library" -ef "$work/installed/lib/$named" ] ||
                { echo "the EGL manifest $manifest names '$library'" >&2; exit 1; }
            [ "$(find "$(dirname "$manifest")" -maxdepth 1 -name '*.json')" = "$manifest" ] ||
                { echo "$manifest is not alone in its folder" >&2; exit 1; }
        done
        # For all users, where every libEGL looks, with the libraries of any prefix, and only if that is asked for.
        for some in /usr /usr/local /opt/cairn; do
            rm -rf "$work/for_all"
            DESTDIR=$work/for_all cmake --install "$build" --prefix "$some" --component enable_for_all >"$work/for_all.log"
            first=etc/glvnd/egl_vendor.d/05_cairn.json last=usr/share/glvnd/egl_vendor.d/95_cairn_last.json
            [ "$(cd "$work/for_all" && find . -type f | sort | tr '\n' ' ')" = "./$first ./$last " ] ||
                { find "$work/for_all" >&2; exit 1; }
            # Where the loader looks, by name.
            folder=$some/lib/
            [ $some = /usr ] && folder=
            grep -q "\"${folder}libEGL_cairn.so.0\"" "$work/for_all/$first"
            grep -q "\"${folder}libEGL_cairn_last.so.0\"" "$work/for_all/$last"
        done
        rm -rf "$work/for_all"
        # systemd takes a path apart at spaces.
        grep -qx "ExecStart=\"$work/installed/bin/cairnd\"" "$work/installed/lib/systemd/user/cairnd.service"
        warm=()
        if [ -f "$build/apps/warm/cairn-warm" ]; then
            warm=(lib/systemd/user/cairn-warm.{service,path,timer})
            grep -qx "ExecStart=\"$work/installed/bin/cairn\" warm --all --if-needed --quiet" "$work/installed/${warm[0]}"
        fi
        agent=()
        if [ -f "$build/apps/agent/cairn-agent" ]; then
            agent=(lib/systemd/user/cairn-agent.{service,socket})
            grep -qx "ExecStart=\"$work/installed/bin/cairn-agent\" serve" "$work/installed/${agent[0]}"
        fi
        mv "$work/installed" "$prefix"
        for file in include/cairn/cairn.h include/cairn/cairn.hpp include/cairn/cairn_broker.h \
            include/cairn/cairn_egl.h bin/cairnd lib/systemd/user/cairnd.service lib/systemd/user/cairnd.socket \
            include/cairn/cairn_control.h include/cairn/cairn_convert.h include/cairn/cairn_gl.h include/cairn/cairn_program_cache.h include/cairn/cairn_warm.h include/cairn/eglext_cairn.h include/cairn/cairn_d3d12.h \
            include/cairn/cairn_d3d12_session.h lib/libcairn_d3d12.so.1 lib/libcairn_vkd3d.so.1 bin/cairn share/doc/cairn/copyright \
            share/cairn/cairn_egl.json share/cairn/last/cairn_egl_last.json "${warm[@]}" "${agent[@]}"; do
            [ -f "$prefix/$file" ] || { echo "not installed: $file" >&2; exit 1; }
        done
        # `cairn convert` finds its program where both were moved to, if it was built.
        if [ -f "$build/apps/convert/cairn-convert" ]; then
            "$prefix/bin/cairn" convert --list >"$work/converters"
        fi
        # So does `cairn warm`.
        if [ -f "$build/apps/warm/cairn-warm" ]; then
            [ -x "$prefix/libexec/cairn/cairn-warm" ]
            "$prefix/bin/cairn" warm --all --dir "$work/no-caches" --quiet
        fi
        # And `cairn dashboard` its page; it ends when nobody asks.
        if [ -f "$build/apps/dashboard/cairn-dashboard" ]; then
            "$prefix/bin/cairn" dashboard --no-open --idle 0.001 --dir "$work/no-caches" | grep 'http://127.0.0.1:' >/dev/null
        fi
        # Nothing may activate itself by being installed.
        [ ! -e "$prefix/share/glvnd" ] && [ ! -e "$prefix/etc" ] || { echo "the EGL manifest is active" >&2; exit 1; }
        # No text file may know the build tree.
        if grep -rIF "$build" "$prefix" | grep -v -e '"library_path"' -e ':ExecStart='; then
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
        "$scratch/build/consumer_d3d12"
        "$scratch/build/consumer_cc_static" "$(mktemp -d -p "$scratch")"
        needs_no_libcairn "$scratch/build/consumer_cc_static"
        cmake -S "$here/c_only" -B "$scratch/c_only" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >/dev/null
        cmake --build "$scratch/c_only"
        "$scratch/c_only/consumer_c" "$(mktemp -d -p "$scratch")"
        needs_no_libcairn "$scratch/c_only/consumer_c"
        if nm --defined-only --extern-only "$libraries/libcairn.a" | grep ' [A-Za-z] ' | grep -v ' T cairn_'; then
            echo "libcairn.a shows the symbols above" >&2
            exit 1
        fi
        ;;
    pkg_config)
        [ "$(pkg-config --modversion cairn)" = 0.2.0 ]
        compile "$scratch/consumer_c" "$here/consumer/consumer.c"
        compile "$scratch/consumer_cc" "$here/consumer/consumer.cc"
        compile "$scratch/consumer_d3d12" "$here/consumer/consumer_d3d12.c" cairn-d3d12 cairn-vkd3d
        "$scratch/consumer_c" "$scratch/c"
        "$scratch/consumer_cc" "$scratch/cc"
        "$scratch/consumer_d3d12"
        # All of it static, as pkg-config means it. Static programs have no users by name, says the linker.
        read -ra flags < <(pkg-config --static --cflags --libs cairn)
        "$cc" -std=c11 "${strict[@]}" -static -o "$scratch/static" "$here/consumer/consumer.c" "${flags[@]}"
        "$scratch/static" "$(mktemp -d -p "$scratch")"
        ;;
    library_only)
        cmake -G Ninja -S "$top" -B "$scratch/build" -DCAIRN_LIBRARY_ONLY=ON -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
            -DCMAKE_CXX_COMPILER_LAUNCHER="$here/reuse_objects.sh;$build" -DCMAKE_INSTALL_LIBDIR=lib64 >/dev/null
        grep -qx 'CMAKE_BUILD_TYPE:STRING=Release' "$scratch/build/CMakeCache.txt"
        library_alone "$scratch/build"
        # A library folder of one's own, a prefix that is chosen when installing, and a root for packages, all at once.
        cmake --build "$scratch/build"
        DESTDIR=$scratch/root cmake --install "$scratch/build" --prefix /opt/cairn >/dev/null
        installed=$scratch/root/opt/cairn
        [ "$(ls "$scratch/root") $(ls "$scratch/root/opt")" = 'opt cairn' ] || { find "$scratch/root" >&2; exit 1; }
        [ -f "$installed/lib64/libcairn.so.1" ] && [ -f "$installed/lib64/cmake/cairn/cairn-config.cmake" ]
        [ "$(PKG_CONFIG_PATH=$installed/lib64/pkgconfig pkg-config --variable=libdir cairn)" -ef "$installed/lib64" ]
        # And folders that no prefix tells of.
        cmake -S "$top" -B "$scratch/build" -DCMAKE_INSTALL_LIBDIR=/libraries -DCMAKE_INSTALL_INCLUDEDIR=/headers >/dev/null
        DESTDIR=$scratch/absolute cmake --install "$scratch/build" --prefix /opt/cairn >/dev/null
        [ -f "$scratch/absolute/libraries/libcairn.so.1" ] && [ -f "$scratch/absolute/headers/cairn/cairn.h" ]
        flags=$(PKG_CONFIG_PATH=$scratch/absolute/libraries/pkgconfig pkg-config --cflags --libs cairn)
        [ "${flags% }" = '-I/headers -L/libraries -lcairn' ] || { echo "cairn.pc says $flags" >&2; exit 1; }
        ;;
    subproject)
        cmake -G Ninja -S "$here/subproject" -B "$scratch/build" -DCAIRN_SOURCE="$top" -DCMAKE_BUILD_TYPE=Debug \
            -DCMAKE_CXX_COMPILER_LAUNCHER="$here/reuse_objects.sh;$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
            -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >/dev/null
        library_alone "$scratch/build"
        cmake --build "$scratch/build"
        "$scratch/build/consumer_c" "$scratch/c"
        "$scratch/build/consumer_cc" "$scratch/cc"
        needs_no_libcairn "$scratch/build/consumer_c"
        cmake --install "$scratch/build" --prefix "$scratch/installed"
        [ ! -e "$scratch/installed" ] || { echo "Cairn installs itself with another project" >&2; exit 1; }
        # That it can be configured is enough: what is built is the same.
        cmake -G Ninja -S "$here/cxx_only" -B "$scratch/cxx_only" -DCAIRN_SOURCE="$top" \
            -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >/dev/null
        ;;
    headers)
        for standard in c11 c17; do
            "$cc" -std=$standard "${strict[@]}" -pedantic-errors -Wstrict-prototypes -Wconversion -fsyntax-only \
                -x c "$prefix/include/cairn/cairn.h"
            for header in cairn_control cairn_convert cairn_d3d12 cairn_egl cairn_gl eglext_cairn; do
                "$cc" -std=$standard "${strict[@]}" -pedantic-errors -Wstrict-prototypes -Wconversion -fsyntax-only \
                    -DEGL_NO_X11 -I"$prefix/include" -x c "$prefix/include/cairn/$header.h"
            done
        done
        for standard in c++17 c++20; do
            "$cxx" -std=$standard "${strict[@]}" -pedantic-errors -Wconversion -fsyntax-only \
                -x c++ "$prefix/include/cairn/cairn.h"
            for header in cairn_control cairn_convert cairn_d3d12 cairn_egl cairn_gl eglext_cairn; do
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
            stores_then_finds "$scratch/program"
        done
        ;;
    convert)
        awk '/^```c$/ { on = 1; next } /^```$/ { on = 0; next } on' "$top/docs/convert.md" >"$scratch/convert.c"
        compile "$scratch/program" "$scratch/convert.c"
        if grep -q '^glslang' "$work/converters"; then
            CAIRN_DIR=$scratch/root "$scratch/program" | tee "$scratch/first"
            CAIRN_DIR=$scratch/root "$scratch/program" | cmp - "$scratch/first"
            grep -q 'bytes of SPIR-V' "$scratch/first"
            [ -s "$scratch/root/conversions/converters" ] || { echo "nothing was kept" >&2; exit 1; }
        fi
        ;;
    d3d12_page)
        # block N LANGUAGE: the Nth such block of the page.
        block() {
            awk -v wanted="$1" -v begin="\`\`\`$2" '
                $0 == begin { on = ++count == wanted; next }
                /^```$/ { on = 0 }
                on' "$top/docs/d3d12.md"
        }
        # The page says `c++`. DirectX-Headers have pragmas of another compiler's.
        mkdir "$scratch/bin"
        printf '#!/bin/sh\nexec "%s" %s -Wno-unknown-pragmas "$@"\n' "$cxx" "${strict[*]}" >"$scratch/bin/c++"
        chmod +x "$scratch/bin/c++"
        cd "$scratch"
        programs=0
        while command=$(block $((programs + 1)) sh) && [ -n "$command" ]; do
            programs=$((programs + 1))
            program=$(sed -nE 's/^c\+\+ .*-o ([a-z0-9_]+) .*/\1/p' <<<"$command")
            needs=$(sed -nE 's/.*--libs cairn-[a-z0-9]+ ([^)]*)\).*/\1/p' <<<"$command")
            echo "== $command"
            [ -n "$program" ] || { echo "the command names no program" >&2; exit 1; }
            # shellcheck disable=SC2086
            if [ -n "$needs" ] && ! pkg-config --exists $needs; then
                echo "left out: needs $needs"
                continue
            fi
            block "$programs" cpp >"$program.cc"
            PATH=$scratch/bin:$PATH sh -e -c "$command"
            for says in stored found; do
                CAIRN_DIR=$scratch/root LD_LIBRARY_PATH=$libraries "./$program" | tee "$scratch/said"
                grep -q "^$says" "$scratch/said"
            done
            rm -r "$scratch/root"
        done
        if [ "$programs" -lt 2 ] || [ "$programs" != "$(grep -c '^```cpp$' "$top/docs/d3d12.md")" ]; then
            echo "the page has $programs commands, and not one for each of its programs" >&2
            exit 1
        fi
        ;;
    examples)
        # Windows without a screen; programs that came with the library.
        export SDL_VIDEODRIVER=offscreen PATH="$prefix/bin:$PATH"
        for source in "$top"/examples/*.c "$top"/examples/*.cc; do
            echo "== ${source##*/}"
            read -ra needs < <(needs_of "$source")
            [ ${#needs[@]} -gt 0 ] || { echo "$source does not say how to compile it" >&2; exit 1; }
            others=()
            for need in "${needs[@]}"; do
                [[ $need == -l* || $need == cairn* ]] || others+=("$need")
            done
            if [ ${#others[@]} -gt 0 ] && ! pkg-config --exists "${others[@]}"; then
                echo "left out: needs ${others[*]}"
                continue
            fi
            compile "$scratch/program" "$source" "${needs[@]}"
            case $source in
                */program_cache.*) is_program_cache "$scratch/program" ;;
                *)
                    rm -rf "$scratch/root"
                    CAIRN_DIR=$scratch/root "$scratch/program" | tee "$scratch/first"
                    CAIRN_DIR=$scratch/root "$scratch/program" | tee "$scratch/second"
                    # What the first run makes, the second finds.
                    ! cmp -s "$scratch/first" "$scratch/second" ||
                        { echo "the second run says what the first does" >&2; exit 1; }
                    ;;
            esac
        done
        ;;
    python)
        command -v python3 >/dev/null || exit 77
        export LD_LIBRARY_PATH=$libraries PYTHONDONTWRITEBYTECODE=1
        is_program_cache python3 "$top/examples/program_cache.py"
        # Each member of its structs is where the header has it.
        cd "$scratch"
        PYTHONPATH=$top/examples python3 - >offsets.c <<'END'
import program_cache as example
print("#include <cairn/cairn_program_cache.h>")
for ours, theirs in (example.Options, "cairn_program_cache_options"), (example.PutOptions, "cairn_put_options"):
    for name, kind in ours._fields_:
        print(f"_Static_assert(offsetof({theirs}, {name}) == {getattr(ours, name).offset}, \"{name}\");")
        print(f"_Static_assert(sizeof((({theirs} *)0)->{name}) == {example.ctypes.sizeof(kind)}, \"{name}\");")
END
        [ "$(grep -c offsetof offsets.c)" -ge 18 ]
        "$cc" -std=c11 "${strict[@]}" -fsyntax-only -I"$prefix/include" offsets.c
        ;;
    rust)
        # Debian's, where another one is first in PATH.
        PATH=/usr/bin:$PATH
        command -v rustc >/dev/null || exit 77
        export LD_LIBRARY_PATH=$libraries
        command=$(sed -n 's,^//! \(rustc .*\),\1,p' "$top/examples/program_cache.rs")
        cp "$top/examples/program_cache.rs" "$scratch"
        cd "$scratch"
        echo "== $command"
        sh -e -c "$command"
        is_program_cache ./program_cache
        # Its structs end where the header's members do that it has.
        cat >sizes.c <<'END'
#include <cairn/cairn_program_cache.h>
#include <stdio.h>
int main(void) {
    printf("const _: [(); %zu] = [(); mem::size_of::<Options>()];\n", offsetof(cairn_program_cache_options, layers));
    printf("const _: [(); %zu] = [(); mem::size_of::<PutOptions>()];\n", sizeof(cairn_put_options));
}
END
        "$cc" -std=c11 "${strict[@]}" -I"$prefix/include" sizes.c -o sizes
        ./sizes >>program_cache.rs
        [ "$(grep -c '^const _: ' program_cache.rs)" = 2 ]
        rustc --emit=metadata program_cache.rs
        ;;
    project_cmake)
        mkdir "$scratch/project"
        cp -r "$top/examples/project/." "$scratch/project"
        # No sources are beside it: it has to find the installed library.
        cmake -S "$scratch/project" -B "$scratch/installed" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
            -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_FLAGS="${strict[*]}" >/dev/null
        cmake --build "$scratch/installed"
        readelf --dynamic "$scratch/installed/program" | grep -q 'NEEDED.*libcairn\.so\.1'
        stores_then_finds "$scratch/installed/program"
        # And no installed library: it takes the sources.
        mkdir "$scratch/project/third_party"
        ln -s "$top" "$scratch/project/third_party/cairn"
        cmake -G Ninja -S "$scratch/project" -B "$scratch/sources" -DCMAKE_DISABLE_FIND_PACKAGE_cairn=ON \
            -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
            -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
        library_alone "$scratch/sources"
        # The library itself is what the test `subproject` builds and links.
        ninja -C "$scratch/sources" CMakeFiles/program.dir/main.c.o
        ninja -C "$scratch/sources" -t inputs program | grep -x 'cairn/src/libcairn\.so.*\|_deps/cairn-build/src/libcairn\.so.*' >/dev/null
        ;;
    project_meson)
        command -v meson >/dev/null || exit 77
        mkdir -p "$scratch/project/subprojects"
        cp -r "$top/examples/project/." "$here/consumer/consumer.cc" "$scratch/project"
        # A C++ program, too, which takes the other library of the sources.
        cat >>"$scratch/project/meson.build" <<'END'
executable('consumer_cc', 'consumer.cc', override_options: ['cpp_std=c++20'],
    dependencies: is_variable('sources') ? sources.dependency('cairn') : cairn)
END
        # meson and CMake each want one word for the compiler.
        printf '#!/bin/sh\nexec "%s" "%s" "%s" "$@"\n' "$here/reuse_objects.sh" "$build" "$cxx" >"$scratch/c++"
        chmod +x "$scratch/c++"
        unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
        with_meson() { # FOLDER OPTION...
            CC=$cc CXX=$scratch/c++ meson setup "$scratch/$1" "$scratch/project" "${@:2}" >"$scratch/log" ||
                { cat "$scratch/log" >&2; exit 1; }
            ninja -C "$scratch/$1" -j2 program consumer_cc
            stores_then_finds "$scratch/$1/program"
            "$scratch/$1/consumer_cc" "$(mktemp -d -p "$scratch")"
        }
        LD_LIBRARY_PATH=$libraries with_meson installed
        readelf --dynamic "$scratch/installed/program" | grep -q 'NEEDED.*libcairn\.so\.1'
        PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=/nowhere
        export PKG_CONFIG_LIBDIR
        ln -s "$top" "$scratch/project/subprojects/cairn"
        with_meson static -Ddefault_library=static
        needs_no_libcairn "$scratch/static/program"
        ;;
esac
