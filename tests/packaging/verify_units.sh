#!/bin/bash
# SPDX-License-Identifier: MIT
# The units, as systemd reads them, and how much they leave to what they start.
# Usage: verify_units.sh SOURCES PROGRAM, which stands for all that services start; exit code 77 where there is no
# systemd-analyze.
set -euo pipefail
sources=$1 program=$2
command -v systemd-analyze >/dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/cairn-units.XXXXXX")
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work/run HOME=$work
mkdir -m 700 "$work/run"
mkdir "$work/units"
cp "$sources"/packaging/systemd/*.{path,timer,socket} "$sources/apps/broker/cairnd.socket" "$work/units"
for service in "$sources"/packaging/systemd/*.service.in "$sources/apps/broker/cairnd.service.in"; do
    sed "s,@cairn[a-z_]*_path@,$program," "$service" >"$work/units/$(basename "$service" .in)"
done

# What is not understood is a line of output only. It may speak of the machine's own units.
verify() {
    systemd-analyze verify --user --man=no "$work"/units/* 2>&1 | grep -e cairn-warm -e cairn-agent -e cairnd || true
}

said=$(verify)
[ -z "$said" ] || { echo "$said" >&2; exit 1; }

# Ten times systemd's measure of exposure. What is left out is said in each unit. Older versions cannot read files.
is_exposed() { # UNIT LIMIT
    ! systemd-analyze --user security --offline=true --threshold="$2" "$work/units/$1" >"$work/said" 2>&1
}
measured=no
if systemd-analyze security --help 2>/dev/null | grep -q -e --offline; then
    measured=yes
    while read -r unit limit; do
        if is_exposed "$unit" "$limit"; then
            cat "$work/said" >&2
            exit 1
        fi
    done <<'END'
cairn-agent.service 56
cairn-warm.service 58
cairnd.service 65
END
fi
# These drop capabilities, which the manager of a user may not: the unit would fail.
if grep -nE '^(CapabilityBoundingSet|PrivateDevices|ProtectClock|ProtectKernelLogs|ProtectKernelModules)=' "$work"/units/*; then
    echo "a user's manager cannot start what is above" >&2
    exit 1
fi

# And it does look.
if [ $measured = yes ]; then
    cp "$work/units/cairnd.service" "$work/kept"
    sed -i -e /^SystemCallFilter/d -e /^Restrict/d "$work/units/cairnd.service"
    is_exposed cairnd.service 65 || { echo "an exposed service was not found" >&2; exit 1; }
    cp "$work/kept" "$work/units/cairnd.service"
fi
echo "Colour=blue" >>"$work/units/cairn-warm.timer"
echo "Taste=sweet" >>"$work/units/cairn-agent.socket"
echo "Sound=loud" >>"$work/units/cairnd.socket"
sed -i 's/^Nice=.*/Nice=many/' "$work/units/cairn-warm.service"
sed -i 's/^MemoryMax=.*/MemoryMax=much/' "$work/units/cairn-agent.service"
said=$(verify)
[ "$(grep -c -e Colour -e Taste -e Sound -e many -e much <<<"$said")" = 5 ] ||
    { echo "mistakes were not found: $said" >&2; exit 1; }
