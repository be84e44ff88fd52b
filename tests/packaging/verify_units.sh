#!/bin/bash
# SPDX-License-Identifier: MIT
# The units, as systemd reads them. Usage: verify_units.sh PACKAGING PROGRAM, which stands for all that services start;
# exit code 77 where there is no systemd-analyze.
set -euo pipefail
packaging=$1 program=$2
command -v systemd-analyze >/dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/cairn-units.XXXXXX")
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work/run HOME=$work
mkdir -m 700 "$work/run"
mkdir "$work/units"
cp "$packaging"/systemd/*.{path,timer,socket} "$work/units"
for service in "$packaging"/systemd/*.service.in; do
    sed "s,@cairn[a-z_]*_path@,$program," "$service" >"$work/units/$(basename "$service" .in)"
done

# What is not understood is a line of output only. It may speak of the machine's own units.
verify() {
    systemd-analyze verify --user --man=no "$work"/units/* 2>&1 | grep -e cairn-warm -e cairn-agent || true
}

said=$(verify)
[ -z "$said" ] || { echo "$said" >&2; exit 1; }
# And it does look.
echo "Colour=blue" >>"$work/units/cairn-warm.timer"
echo "Taste=sweet" >>"$work/units/cairn-agent.socket"
sed -i 's/^Nice=.*/Nice=many/' "$work/units/cairn-warm.service"
sed -i 's/^MemoryMax=.*/MemoryMax=much/' "$work/units/cairn-agent.service"
said=$(verify)
[ "$(grep -c -e Colour -e Taste -e many -e much <<<"$said")" = 4 ] ||
    { echo "mistakes were not found: $said" >&2; exit 1; }
