#!/bin/bash
# SPDX-License-Identifier: MIT
# dpkg in a folder: packages with what a Debian package of Cairn has, and with drivers.
# Usage: dpkg_trigger.sh DEBIAN; exit code 77 where there is no dpkg or fakeroot.
set -euo pipefail
debian=$1
command -v dpkg >/dev/null && command -v dpkg-deb >/dev/null && command -v fakeroot >/dev/null || exit 77
export PATH=$PATH:/usr/sbin:/sbin

work=$(mktemp -d "${TMPDIR:-/tmp}/cairn-dpkg.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root stamp=$work/root/var/lib/cairn/driver-changed
mkdir -p "$root"/var/lib/dpkg/{info,updates}
touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"

fail() {
    echo "$*" >&2
    exit 1
}

# package NAME VERSION [FILE...]: makes NAME.deb of $work/NAME, with these files.
package() {
    local name=$1 version=$2
    shift 2
    mkdir -p "$work/$name/DEBIAN"
    printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Nobody <nobody@localhost>\nDescription: a test\n' \
        "$name" "$version" >"$work/$name/DEBIAN/control"
    for file; do
        mkdir -p "$work/$name$(dirname "$file")"
        echo "$version" >"$work/$name$file"
    done
    fakeroot dpkg-deb --build "$work/$name" "$work/$name.deb" >/dev/null
}

dpkg_here() {
    fakeroot dpkg --root="$root" --force-script-chrootless --log="$work/log" "$@" >"$work/output" 2>&1 ||
        { cat "$work/output" >&2; fail "dpkg $* failed"; }
}

# The stamp is made older than it can be, so that the next change is seen.
age() { touch -d 2001-01-01 "$stamp"; }
is_new() { [ -f "$stamp" ] && [ "$(stat -c %Y "$stamp")" -gt 1000000000 ]; }

mkdir -p "$work/cairn/DEBIAN"
cp "$debian/cairn.triggers" "$work/cairn/DEBIAN/triggers"
install -m 755 "$debian/cairn.postinst" "$work/cairn/DEBIAN/postinst"
package cairn 1 /usr/bin/cairn
dpkg_here --install "$work/cairn.deb"
[ ! -e "$stamp" ] || fail "installing Cairn is no update of a driver"

package editor 1 /usr/share/editor/words /usr/lib/x86_64-linux-gnu/libeditor.so.0
dpkg_here --install "$work/editor.deb"
[ ! -e "$stamp" ] || fail "a package without a driver has touched the stamp"

for file in /usr/lib/x86_64-linux-gnu/dri/iris_dri.so /usr/lib/x86_64-linux-gnu/nvidia/current/libGLX_nvidia.so.535.1 \
    /usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0 /usr/share/glvnd/egl_vendor.d/50_mesa.json; do
    rm -rf "$work/driver"
    package driver 1 "$file"
    dpkg_here --install "$work/driver.deb"
    is_new || fail "a driver's $file was installed unnoticed"
    age
    package driver 2 "$file"
    dpkg_here --install "$work/driver.deb"
    is_new || fail "a driver's $file was updated unnoticed"
    age
    dpkg_here --remove driver
    is_new || fail "a driver's $file was removed unnoticed"
    age
done
[ "$(stat -c %a "$stamp") $(stat -c %a "${stamp%/*}")" = "644 755" ] || fail "others may write the stamp, or not see it"

# What is there for all users goes with a purge, and not before.
install -m 755 "$debian/cairn.postrm" "$work/cairn/DEBIAN/postrm"
package cairn 2 /usr/bin/cairn
mkdir "$root/var/lib/cairn/packs"
touch "$root/var/lib/cairn/packs/game.pack"
dpkg_here --install "$work/cairn.deb"
dpkg_here --remove cairn
[ -e "$root/var/lib/cairn/packs/game.pack" ] || fail "removing Cairn has removed packs"
dpkg_here --purge cairn
[ ! -e "$root/var/lib/cairn" ] || fail "a purge has left $(ls -A "$root/var/lib/cairn") in /var/lib/cairn"
rm -rf "$work/cairn/DEBIAN/postrm"
package cairn 3 /usr/bin/cairn
dpkg_here --install "$work/cairn.deb"
dpkg_here --install "$work/driver.deb"

# Root does this much and no more.
files=$(cd "$root" && find . -type f ! -path './var/lib/dpkg/*' | sort | tr '\n' ' ')
[ "$files" = "./usr/bin/cairn ./usr/lib/x86_64-linux-gnu/libeditor.so.0 ./usr/share/editor/words ./usr/share/glvnd/egl_vendor.d/50_mesa.json ./var/lib/cairn/driver-changed " ] ||
    fail "more was written: $files"
