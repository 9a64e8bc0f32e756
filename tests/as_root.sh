#!/bin/sh
# SPDX-License-Identifier: MIT
# as_root.sh PROGRAM [ARGUMENT...]: runs a test that makes device nodes and namespaces, as root.
# Where that is not possible it says so and is skipped (status 77), or fails where nothing may be
# skipped (GTEL_REQUIRE_ALL).
set -u
sudo=
[ "$(id -u)" = 0 ] || sudo="sudo -n"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# shellcheck disable=SC2086
if ! $sudo mknod "$dir/node" c 226 128 2>/dev/null ||
    ! $sudo unshare -m -p -f true 2>/dev/null; then
    echo "this test needs root: device nodes (mknod) and namespaces (unshare) are refused here"
    [ -z "${GTEL_REQUIRE_ALL-}" ] || exit 1
    exit 77
fi
$sudo rm -f "$dir/node"
# shellcheck disable=SC2086
$sudo "$@"
