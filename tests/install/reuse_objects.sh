#!/bin/bash
# SPDX-License-Identifier: MIT
# Stands before a compiler, so that another build of the library takes seconds: src/base, whose files have flags of their
# own, and src/capi/gl.cc are compiled as they are told; all other objects of the library come from BUILD_TREE.
# Usage: reuse_objects.sh BUILD_TREE COMPILER ARGUMENT...
set -euo pipefail
build=$1
shift
source='' output='' dependencies='' last=''
for word; do
    case $last in
        -o) output=$word ;;
        -MF) dependencies=$word ;;
    esac
    case $word in
        */src/capi/gl.cc) ;;
        */src/os/*.cc | */src/history/*.cc | */src/recipe/*.cc | */src/store/*.cc | */src/pack/*.cc | */src/ipc/*.cc | \
            */src/cache/*.cc | */src/capi/*.cc) source=$word ;;
    esac
    last=$word
done
layer=$(basename "$(dirname "$source")")
object=$build/src/$layer/CMakeFiles/cairn_${layer}_objects.dir/$(basename "$source").o
if [ -z "$source" ] || [ -z "$output" ] || [ ! -f "$object" ]; then
    exec "$@"
fi
cp "$object" "$output"
if [ -n "$dependencies" ]; then
    echo "$output: $source" >"$dependencies"
fi
