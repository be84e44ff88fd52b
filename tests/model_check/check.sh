#!/bin/sh
# Checks all interleavings of tests/model_check/publish.pml with spin.
# SPDX-License-Identifier: MIT
#
# Usage: check.sh MODEL NAME    exit 77: spin is not installed
#
# NAME is one of those below. Those that begin with "broken-" leave out a part of the protocol; there
# the check must find a mistake, which shows that it can.
set -eu

model=$1
name=$2
command -v spin >/dev/null || { echo "spin is not installed (Debian package: spin)"; exit 77; }

two="-DWRITERS -DWANT_ABSENCE=false"
expect=sound
live=
case $name in
    replace) options="$two -DREADER -DREMOVER -DOLD_ENTRY" ;;
    dead-writer) options="$two -DTWO_READERS -DDEAD_WRITER" ;;
    absent) options="-DWRITERS -DWANT_ABSENCE=true -DTWO_READERS -DONE_WINNER -DDEAD_WRITER" ;;
    evict) options="$two -DEVICTOR -DOLD_ENTRY" ;;
    evict-read) options="-DONE_WRITER -DWANT_ABSENCE=false -DTWO_READERS -DHITS -DEVICTOR -DOLD_ENTRY" ;;
    evict-remove) options="-DONE_WRITER -DWANT_ABSENCE=false -DREADER -DEVICTOR -DREMOVER -DOLD_ENTRY" ;;
    search) options="$two -DSEARCH" ;;
    late-search) options="-DONE_WRITER -DWANT_ABSENCE=false -DREMOVER -DLATE_SEARCH" ;;
    end) options="$two -DLIVE"; live=yes ;;
    # Minutes and gigabytes:
    long-evict) options="$two -DTWO_READERS -DEVICTOR -DOLD_ENTRY" ;;
    long-absent) options="-DWRITERS -DWANT_ABSENCE=true -DEVICTOR -DREADER -DOLD_ENTRY" ;;
    long-everybody) options="$two -DREADER -DREMOVER -DEVICTOR -DDEAD_WRITER -DOLD_ENTRY" ;;
    broken-copy) options="$two -DREMOVER -DEVICTOR -DOLD_ENTRY -DNO_LOOK_AGAIN"; expect=broken ;;
    broken-mark) options="$two -DSEARCH -DNO_MARK"; expect=broken ;;
    broken-recount) options="-DONE_WRITER -DWANT_ABSENCE=false -DREMOVER -DLATE_SEARCH -DNO_RECOUNT"; expect=broken ;;
    broken-withdraw) options="$two -DLIVE -DWITHDRAW_IF_CHANGED"; expect=broken; live=yes ;;
    *) echo "no such check: $name"; exit 2 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$model" "$work/publish.pml"
cd "$work"
spin $options -a publish.pml >spin.log || { cat spin.log; exit 1; }
# States are kept in full (no hashing to bits): what is said to be sound is.
flags="-O2 -w -DVECTORSZ=2048 -DCOLLAPSE -DMEMLIM=12000"
if [ -n "$live" ]; then
    gcc $flags -DNFAIR=4 -o pan pan.c
    ./pan -a -f -m1000000 >pan.log 2>&1 || true
else
    gcc $flags -DSAFETY -o pan pan.c
    ./pan -m1000000 >pan.log 2>&1 || true
fi
grep -E "errors:|states, stored|pan: |max search depth" pan.log || true
if grep -qE "max search depth too small|out of memory|reached -DMEMLIM" pan.log; then
    echo "not searched to the end"
    exit 1
fi
if grep -q "errors: 0" pan.log; then found=sound; else found=broken; fi
if [ $found != $expect ]; then
    echo "$name: expected $expect, found $found"
    [ -e publish.pml.trail ] && spin $options -t -p publish.pml | tail -n 120
    exit 1
fi
echo "$name: $found, as expected"
