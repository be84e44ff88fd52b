#!/bin/bash
# SPDX-License-Identifier: MIT
# The units, as systemd reads them. Usage: verify_units.sh PACKAGING CAIRN; exit code 77 where there is no systemd-analyze.
set -euo pipefail
packaging=$1 cairn=$2
command -v systemd-analyze >/dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/cairn-units.XXXXXX")
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work/run HOME=$work
mkdir -m 700 "$work/run"
mkdir "$work/units"
cp "$packaging"/systemd/cairn-warm.{path,timer} "$work/units"
sed "s,@cairn_path@,$cairn," "$packaging/systemd/cairn-warm.service.in" >"$work/units/cairn-warm.service"

# What is not understood is a line of output only. It may speak of the machine's own units.
verify() {
    systemd-analyze verify --user --man=no "$work"/units/* 2>&1 | grep -F cairn-warm || true
}

said=$(verify)
[ -z "$said" ] || { echo "$said" >&2; exit 1; }
# And it does look.
echo "Colour=blue" >>"$work/units/cairn-warm.timer"
sed -i 's/^Nice=.*/Nice=many/' "$work/units/cairn-warm.service"
said=$(verify)
[ "$(grep -c -e Colour -e many <<<"$said")" = 2 ] || { echo "mistakes were not found: $said" >&2; exit 1; }
