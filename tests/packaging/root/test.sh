#!/bin/bash
# SPDX-License-Identifier: MIT
# In a root that has a driver for GL and no network: the packages are installed, used, upgraded under a running application,
# removed and purged. scripts/test-packages starts it there.
# Usage: test.sh, with /packages/last and /packages/new, two versions of all packages, and this folder as /packages/test.
set -euo pipefail
cd /packages
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe

step() { printf -- '-- %s\n' "$*"; }
fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}
apt() {
    apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@" >/packages/apt.log 2>&1 ||
        { cat /packages/apt.log >&2; fail "apt-get $*"; }
}
# A person's session; nothing of root's environment.
as_user() {
    setpriv --reuid=tester --regid=tester --clear-groups env -i HOME=/home/tester PATH=/usr/bin:/bin LC_ALL=C.UTF-8 \
        TMPDIR=/tmp LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe EGL_PLATFORM=surfaceless "$@"
}
# number NAME FILE: of what `cairn run --json` wrote.
number() { sed -nE "s/^ *\"$1\": ([0-9]+),?\$/\1/p" "$2" | head -1; }
# All files but those that programs of the system write by themselves.
files() {
    find / -xdev \( -path /packages -o -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/cache \
        -o -path /var/log -o -path /var/lib/dpkg -o -path /var/lib/apt \) -prune -o -print | sort
}
caches() { (cd /home/tester && find .cache -type f -exec sha256sum {} + | sort -k 2); }

useradd --create-home tester
mkdir /packages/out
chown tester /packages/out
files >/packages/files.before

step "install the last version, with what it needs"
apt install ./last/cairn_*.deb ./last/libegl-cairn0_*.deb ./last/libglx-cairn0_*.deb
last=$(dpkg-query -W -f '${Version}' cairn)
as_user cairn --version
[ ! -e /home/tester/.cache ] || fail "installing has written to a home"
[ ! -e /var/lib/cairn/driver-changed ] || fail "installing Cairn is no update of a driver"
enabled=$(find /etc /home/tester -name '*cairn*')
[ -z "$enabled" ] || fail "something is enabled that nobody asked for: $enabled"

step "libraries, programs and units are whole"
for file in $(dpkg -L cairn libegl-cairn0 libglx-cairn0); do
    if [ -f "$file" ] && head -c 4 "$file" | grep -q ELF && ldd "$file" 2>&1 | grep 'not found'; then
        fail "$file lacks the above"
    fi
done
ldconfig -p | grep -q libGLX_cairn.so.0 || fail "the loader does not find the front end for GLX"

step "a program that draws through GLX, and one through EGL, in an X server, cold and warm"
for program in glmark2 glmark2-es2; do
    for run in cold warm; do
        as_user xvfb-run -a cairn run --json /packages/out/$program-$run.json -- \
            $program --validate -b build:use-vbo=true -b texture -b shading >/packages/out/$program-$run.log 2>&1 ||
            { cat /packages/out/$program-$run.log; fail "$program, $run"; }
        ! grep -q 'Validation: Failure' /packages/out/$program-$run.log || fail "$program shows other pictures"
    done
    grep -q 'Validation: Success' /packages/out/$program-warm.log || fail "$program has validated nothing"
    [ "$(number misses /packages/out/$program-cold.json)" -gt 0 ] || fail "$program was not served"
    [ "$(number misses /packages/out/$program-warm.json)" = 0 ] && [ "$(number hits /packages/out/$program-warm.json)" -gt 0 ] ||
        fail "the second start of $program was not warm"
done

step "pictures, with Cairn and without"
as_user /packages/test/picture 0 40 >/packages/out/expected
as_user cairn run --json /packages/out/cold.json -- /packages/test/picture 0 20 | head -20 | cmp - <(head -20 /packages/out/expected) ||
    fail "other pictures"

step "switch it on and off for a session"
mkdir -p /run/systemd/system # as where systemd runs
as_user cairn enable
as_user cairn status | grep . || fail "no status"
[ -e /home/tester/.config/environment.d/50-cairn.conf ] || fail "the session does not use Cairn"
[ -L /home/tester/.config/systemd/user/cairn-warm.service ] || fail "no unit was linked"
[ -e "$(readlink /home/tester/.config/systemd/user/cairn-warm.service)" ] || fail "the unit's link leads nowhere"
as_user bash -c 'set -a; . ~/.config/environment.d/50-cairn.conf; /packages/test/picture 0 10' |
    cmp - <(head -10 /packages/out/expected) || fail "other pictures after cairn enable"

step "upgrade while an application runs"
: >/packages/out/pictures
as_user cairn run --json /packages/out/upgraded.json -- /packages/test/picture 0 40 /packages/out/go >/packages/out/pictures &
running=$!
for _ in $(seq 300); do
    [ "$(wc -l </packages/out/pictures)" -lt 20 ] || break
    sleep 0.1
done
[ "$(wc -l </packages/out/pictures)" = 20 ] || fail "the application does not run"
apt install ./new/cairn_*.deb ./new/libegl-cairn0_*.deb ./new/libglx-cairn0_*.deb
[ "$(dpkg-query -W -f '${Version}' cairn)" != "$last" ] || fail "nothing was upgraded"
kill -0 $running || fail "the application did not survive the upgrade"
touch /packages/out/go
wait $running || fail "the application failed after the upgrade"
cmp /packages/out/pictures /packages/out/expected || fail "other pictures after the upgrade"
[ "$(number hits /packages/out/upgraded.json)" = 20 ] || fail "it did not find what was stored before"
as_user cairn run --json /packages/out/after.json -- /packages/test/picture 0 40 | cmp - /packages/out/expected ||
    fail "other pictures with the new version"
[ "$(number hits /packages/out/after.json)" = 40 ] || fail "the new version does not find what was stored before and during the upgrade"

step "an update of a driver is noticed"
dpkg-trigger --no-await /usr/share/glvnd/egl_vendor.d
dpkg --configure --pending >/dev/null
dpkg --triggers-only --pending >/dev/null
[ -f /var/lib/cairn/driver-changed ] || fail "no stamp"

step "programs are compiled with the packages for development"
apt install gcc g++ cmake make pkg-config libc6-dev ./new/*.deb
as_user bash -ec '
    mkdir /tmp/consumer && cd /tmp/consumer && cp /packages/test/consumer/* .
    cc -std=c11 consumer.c $(pkg-config --cflags --libs cairn) -o shared
    cc -std=c11 consumer.c $(pkg-config --static --cflags --libs cairn) -static -o static
    cmake -S . -B build >/dev/null && cmake --build build >/dev/null
    for program in shared static build/by_cmake build/by_cmake_static; do
        CAIRN_DIR=/tmp/consumer/$program.root ./$program | grep -qx "compiled and stored"
        CAIRN_DIR=/tmp/consumer/$program.root ./$program | grep -qx "found 6 bytes"
    done
    pkg-config --exists cairn-d3d12 cairn-vkd3d' || fail "a program against the packages"

step "remove"
caches >/packages/caches.before
apt remove 'libcairn*' libegl-cairn0 libglx-cairn0 cairn
[ -e /var/lib/cairn/driver-changed ] || fail "removing has done what a purge does"
as_user /packages/test/picture 0 10 | cmp - <(head -10 /packages/out/expected) || fail "other pictures without Cairn"
# A session that nobody has switched off, whose front end is gone.
as_user bash -c 'set -a; . ~/.config/environment.d/50-cairn.conf; /packages/test/picture 0 10' |
    cmp - <(head -10 /packages/out/expected) || fail "other pictures in a session that is still switched on"

step "purge"
apt purge 'libcairn*' libegl-cairn0 libglx-cairn0 cairn
apt autoremove
[ ! -e /var/lib/cairn ] || fail "/var/lib/cairn is still there"
caches | cmp - /packages/caches.before || fail "a user's caches were touched"
files | grep -v '^/home/tester' >/packages/files.after
comm -13 <(grep -v '^/home/tester' /packages/files.before) /packages/files.after | grep -i cairn && fail "the above was left"
step "all passed"
