#!/bin/sh
# Checks all interleavings of a model in tests/model_check with spin.
# SPDX-License-Identifier: MIT
#
# Usage: check.sh MODEL NAME    exit 77: spin is not installed
#
# MODEL is the path of publish.pml or rebuild.pml; NAME is one of those below. Those that
# begin with "broken-" leave out a part of the protocol; there the check must find a mistake, which
# shows that it can. Those that begin with "long-" take many minutes and gigabytes.
set -eu

model=$1
name=$2
kind=$(basename "$model" .pml)
command -v spin >/dev/null || { echo "spin is not installed (Debian package: spin)"; exit 77; }

expect=sound
live=
case $name in broken-*) expect=broken ;; esac

publish_options() {
    two="-DWRITERS -DWANT_ABSENCE=false"
    case $name in
        replace) options="$two -DREADER -DREMOVER -DOLD_ENTRY" ;;
        dead-writer) options="$two -DTWO_READERS -DDEAD_WRITER" ;;
        absent) options="-DWRITERS -DWANT_ABSENCE=true -DTWO_READERS -DONE_WINNER -DDEAD_WRITER" ;;
        evict) options="$two -DEVICTOR -DOLD_ENTRY" ;;
        evict-read) options="-DONE_WRITER -DWANT_ABSENCE=false -DTWO_READERS -DHITS -DEVICTOR -DOLD_ENTRY" ;;
        evict-remove) options="-DONE_WRITER -DWANT_ABSENCE=false -DREADER -DEVICTOR -DREMOVER -DOLD_ENTRY" ;;
        end) options="$two -DLIVE"; live=yes ;;
        long-evict) options="$two -DTWO_READERS -DEVICTOR -DOLD_ENTRY" ;;
        long-absent) options="-DWRITERS -DWANT_ABSENCE=true -DEVICTOR -DREADER -DOLD_ENTRY" ;;
        long-everybody) options="$two -DREADER -DREMOVER -DEVICTOR -DDEAD_WRITER -DOLD_ENTRY" ;;
        broken-copy) options="$two -DREMOVER -DEVICTOR -DOLD_ENTRY -DNO_LOOK_AGAIN" ;;
        broken-withdraw) options="$two -DLIVE -DWITHDRAW_IF_CHANGED"; live=yes ;;
        *) return 1 ;;
    esac
}

rebuild_options() {
    dies="-DTWO_REBUILD -DONE_AFTER_THE_OTHER -DDIES=1"
    case $name in
        put) options="-DPUT -DREAD" ;;
        remove) options="-DREMOVES -DREAD" ;;
        put-remove) options="-DPUT -DREMOVES" ;;
        kill) options="-DPUT -DREAD -DKILL_PUT $dies" ;;
        die-remove) options="-DREMOVES -DREAD $dies" ;;
        decided) options="-DPUT -DKILL_PUT -DDECIDED" ;;
        two) options="-DPUT -DREAD -DTWO_REBUILD" ;;
        two-remove) options="-DREMOVES -DREAD -DTWO_REBUILD" ;;
        long-put-remove) options="-DPUT -DREMOVES -DREAD" ;;
        long-puts) options="-DTWO_PUTS" ;;
        long-puts-read) options="-DTWO_PUTS -DREAD" ;;
        long-die) options="-DPUT -DREMOVES $dies" ;;
        broken-dead-record) options="-DPUT -DREMOVES -DDEAD_IS_IGNORED" ;;
        broken-speak) options="-DPUT -DREMOVES -DDEAD_RECORD_IF_NOTHING" ;;
        broken-look-again) options="-DPUT -DREMOVES -DNO_LOOK_AGAIN" ;;
        broken-own) options="-DPUT -DOWN_IS_REPLACED" ;;
        broken-unused) options="-DPUT -DREAD -DUNUSED_AT_ONCE" ;;
        broken-ask-late) options="-DPUT -DKILL_PUT -DASK_LATE" ;;
        broken-unsettled) options="-DPUT -DREAD -DBELIEVE_UNSETTLED" ;;
        broken-old-first) options="-DPUT $dies -DOLD_INDEX_FIRST" ;;
        broken-second-pass) options="-DPUT -DREMOVES -DSECOND_PASS_PUBLISHES" ;;
        broken-one-pass) options="-DPUT -DREMOVES -DONE_PASS" ;;
        broken-last-look) options="-DPUT -DNO_LAST_LOOK" ;;
        broken-undecided) options="-DPUT -DNO_UNDECIDED" ;;
        broken-question-put) options="-DPUT -DNO_QUESTION_OF_PUT" ;;
        broken-question-remove) options="-DREMOVES -DNO_QUESTION_OF_REMOVE" ;;
        broken-look) options="-DPUT -DREMOVES -DREAD -DNO_LOOK" ;;
        broken-due-early) options="-DPUT -DREAD -DDUE_CLEARED_EARLY" ;;
        broken-marks) options="-DPUT -DREMOVES -DREAD -DNO_MARKS_READ" ;;
        broken-losers) options="-DPUT -DKILL_PUT -DDECIDED -DNO_LOSERS" ;;
        broken-mark-first) options="-DPUT -DKILL_PUT -DMARK_FIRST" ;;
        broken-question-due) options="-DPUT -DREAD -DTWO_REBUILD -DNO_QUESTION_OF_DUE" ;;
        broken-lock) options="-DPUT -DTWO_REBUILD -DNO_LOCK" ;;
        *) return 1 ;;
    esac
}

"${kind}_options" || { echo "no such check: $kind $name"; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$model" "$work/$kind.pml"
cd "$work"
spin $options -a "$kind.pml" >spin.log || { cat spin.log; exit 1; }
# States are kept in full (no hashing to bits): what is said to be sound is.
flags="-O2 -w -DVECTORSZ=2048 -DCOLLAPSE -DMEMLIM=12000"
if [ -n "$live" ]; then
    gcc $flags -DNFAIR=4 -o pan pan.c
    ./pan -a -f -m1000000 >pan.log 2>&1 || true
else
    # -E: in rebuild.pml who has made all its attempts stands still.
    [ "$kind" = publish ] && end= || end=-E
    gcc $flags -DSAFETY -o pan pan.c
    ./pan -m1000000 $end >pan.log 2>&1 || true
fi
grep -E "errors:|states, stored|pan: |max search depth" pan.log || true
if grep -qE "max search depth too small|out of memory|reached -DMEMLIM" pan.log; then
    echo "not searched to the end"
    exit 1
fi
if grep -q "errors: 0" pan.log; then found=sound; else found=broken; fi
if [ $found != $expect ]; then
    echo "$kind, $name: expected $expect, found $found"
    [ -e "$kind.pml.trail" ] && spin $options -t -p "$kind.pml" | tail -n 120
    exit 1
fi
echo "$kind, $name: $found, as expected"
