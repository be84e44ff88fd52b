#!/bin/sh
# Checks all interleavings of a model in tests/model_check with spin.
# SPDX-License-Identifier: MIT
#
# Usage: check.sh MODEL NAME    exit 77: spin is not installed
#
# MODEL is the path of one of the models; NAME is one of those below. Those that
# begin with "broken-" leave out a part of the protocol; there the check must find a mistake, which
# shows that it can. Those that begin with "long-" take many minutes and gigabytes. Those that begin
# with "left-" show what the protocol does not cover: there, too, a mistake is found.
set -eu

model=$1
name=$2
kind=$(basename "$model" .pml)
command -v spin >/dev/null || { echo "spin is not installed (Debian package: spin)"; exit 77; }

expect=sound
live=
case $name in broken-* | left-*) expect=broken ;; esac

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

carry_options() {
    evict="-DEVICTS=2 -DREMOVES -DROUNDS=4 -DDIES=2 -DLOST_WHEN_WHOLE"
    compress="-DCOMPRESSES -DREMOVES -DSTARTS -DROUNDS=3 -DDIES=2"
    # Rules that the code does not have. Each one that is missing is a check "left-...".
    unnoted=-DMEND_UNNOTED
    no_slot=-DMEND_NO_SLOT
    mended="$unnoted $no_slot"
    at_once="-DEVICTS=1 -DREMOVES -DROUNDS=3"
    due=-DEVICTS_WHILE_DUE
    case $name in
        evict) options="$evict" ;;
        killed-put) options="-DEVICTS=1 -DPUT_KILLED -DROUNDS=3 -DDIES=1" ;;
        evict-at-once) options="$at_once -DDIES=2 $mended" ;;
        evict-start) options="$at_once -DDIES=1 -DSTARTS $due $mended" ;;
        evict-damage) options="$at_once -DDIES=1 -DDAMAGE $due $mended" ;;
        evict-put) options="-DEVICTS=1 -DPUTS -DROUNDS=2 $due $mended" ;;
        compress) options="$compress" ;;
        compress-damage) options="$compress -DDAMAGE" ;;
        long-compress-put) options="-DCOMPRESSES -DPUTS -DREMOVES -DSTARTS -DROUNDS=3 -DDIES=1" ;;
        both) options="-DEVICTS=1 -DCOMPRESSES -DREMOVES -DSTARTS -DROUNDS=2 -DDIES=1 $due $mended" ;;
        long-both) options="$at_once -DCOMPRESSES -DDIES=1 $due $mended" ;;
        broken-none-left) options="$evict -DNONE_LEFT" ;;
        broken-none-carried) options="$evict -DNONE_CARRIED" ;;
        broken-drop-first) options="$evict -DDROP_FIRST" ;;
        broken-all-left) options="-DEVICTS=1 -DPUT_KILLED -DROUNDS=3 -DDIES=1 -DALL_ARE_LEFT" ;;
        broken-own-stamp) options="-DEVICTS=1 -DPUTS -DROUNDS=2 $due $mended -DSTAMP_OF_ITS_OWN" ;;
        broken-ghosts) options="$at_once -DDIES=2 $mended -DNO_GHOSTS" ;;
        broken-victim) options="$at_once -DDIES=2 $mended -DVICTIM_FORGOTTEN" ;;
        broken-compress-none-carried) options="$compress -DNONE_CARRIED" ;;
        broken-counted-once) options="$compress -DCOUNTED_ONCE" ;;
        broken-live-copy) options="$compress -DLIVE_COPY_COUNTS" ;;
        broken-due-early) options="$compress -DDUE_CLEARED_EARLY" ;;
        broken-retired-while-due) options="$compress -DDAMAGE -DRETIRED_WHILE_DUE" ;;
        broken-asked-once) options="$compress -DDAMAGE -DASK_DUE_ONCE" ;;
        broken-planned-once) options="$at_once $due $mended -DPLANNED_ONCE" ;;
        left-unnoted) options="$at_once -DDIES=1 $no_slot" ;;
        left-no-slot) options="$at_once -DDIES=2 $due $unnoted" ;;
        left-not-due) options="$at_once -DSTARTS $mended" ;;
        left-copy) options="$at_once -DCOMPRESSES -DDIES=1 $mended" ;;
        evict-unseen) options="-DEVICTS=1 -DROUNDS=2 -DUNSEEN $mended" ;;
        broken-unseen) options="-DEVICTS=1 -DROUNDS=2 -DUNSEEN $mended -DASKS_DUE_ONLY" ;;
        evict-void-mark) options="-DEVICTS=1 -DROUNDS=2 -DVOID_MARK $due $unnoted" ;;
        broken-void-mark) options="-DEVICTS=1 -DROUNDS=2 -DVOID_MARK $due $unnoted -DVOID_MARKS_COUNT" ;;
        left-killed-put) options="-DEVICTS=1 -DPUTS -DROUNDS=3 -DDIES=1 -DSTARTS $due $mended" ;;
        *) return 1 ;;
    esac
}

open_options() {
    case $name in
        two) options="-DREBUILDS" ;;
        two-die) options="-DREBUILDS -DDIES=1 -DDAMAGED" ;;
        three) options="-DOPENERS=3 -DDIES=1 -DDAMAGED" ;;
        long-three) options="-DOPENERS=3 -DREBUILDS" ;;
        broken-lock) options="-DDAMAGED -DNO_LOCK" ;;
        broken-look) options="-DDAMAGED -DNO_SECOND_LOOK" ;;
        broken-margin) options="-DNO_MARGIN" ;;
        broken-name) options="-DNAMED_IN_ANY_CASE" ;;
        broken-question) options="-DREBUILDS -DNO_QUESTION" ;;
        left-impatient) options="-DDAMAGED -DIMPATIENT" ;;
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
# To compile takes longer than most searches.
case $name in long-*) optimise=-O2 ;; *) optimise=-O0 ;; esac
flags="$optimise -w -DVECTORSZ=2048 -DCOLLAPSE -DMEMLIM=12000"
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
