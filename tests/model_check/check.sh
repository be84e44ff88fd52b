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
        puts) options="-DTWO_PUTS -DATTEMPTS=4" ;;
        kill) options="-DPUT -DREAD -DKILL_PUT $dies" ;;
        die-remove) options="-DREMOVES -DREAD $dies" ;;
        decided) options="-DPUT -DKILL_PUT -DDECIDED" ;;
        die-decided) options="-DPUT -DKILL_PUT -DDECIDED $dies" ;;
        damage) options="-DPUT -DREAD -DDAMAGE" ;;
        two) options="-DPUT -DREAD -DTWO_REBUILD" ;;
        two-remove) options="-DREMOVES -DREAD -DTWO_REBUILD" ;;
        long-put-remove) options="-DPUT -DREMOVES -DREAD" ;;
        long-puts-read) options="-DTWO_PUTS -DREAD -DATTEMPTS=4" ;;
        long-die) options="-DPUT -DREMOVES $dies" ;;
        broken-seal) options="-DPUT -DNO_SEAL" ;;
        broken-seal-late) options="-DPUT -DNO_SEAL -DSEAL_LATE" ;;
        broken-put-seal) options="-DPUT -DSEAL_UNSEEN_BY_PUT" ;;
        broken-remove-seal) options="-DREMOVES -DSEAL_UNSEEN_BY_REMOVE" ;;
        broken-unseal) options="-DPUT -DUNSEAL_WITHOUT_LOCK" ;;
        broken-dead-record) options="-DREMOVES -DNO_DEAD_RECORD" ;;
        broken-unused) options="-DPUT -DREAD -DUNUSED_AT_ONCE" ;;
        broken-ask-late) options="-DPUT -DKILL_PUT -DASK_LATE" ;;
        broken-mark-first) options="-DPUT -DKILL_PUT -DMARK_FIRST" ;;
        broken-last-look) options="-DPUT -DNO_LAST_LOOK" ;;
        broken-undecided) options="-DPUT -DNO_UNDECIDED" ;;
        broken-question-put) options="-DPUT -DNO_QUESTION_OF_PUT" ;;
        broken-question-remove) options="-DREMOVES -DNO_QUESTION_OF_REMOVE" ;;
        broken-look) options="-DPUT -DREMOVES -DREAD -DNO_QUESTION_OF_LOOK_UP" ;;
        broken-miss) options="-DPUT -DREAD -DTWO_REBUILD -DMISS_UNASKED" ;;
        broken-marks) options="-DREMOVES -DREAD -DTWO_REBUILD -DNO_MARKS_READ" ;;
        broken-losers) options="-DPUT -DKILL_PUT -DDECIDED -DNO_LOSERS" ;;
        broken-forget) options="-DPUT -DREAD -DDAMAGE -DFORGET_LATE" ;;
        broken-due-early) options="-DPUT -DKILL_PUT -DDECIDED $dies -DDUE_CLEARED_EARLY" ;;
        broken-due-taken-back) options="-DREAD -DDAMAGE -DDUE_NOT_COMPARED" ;;
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
    gcc $flags -DSAFETY -o pan pan.c
    ./pan -m1000000 >pan.log 2>&1 || true
fi
grep -E "errors:|states, stored|pan: |max search depth" pan.log || true
if ! grep -q "errors:" pan.log ||
    grep -qE "max search depth too small|out of memory|reached -DMEMLIM" pan.log; then
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
