# SPDX-License-Identifier: MIT
"""Who may include whom: the folders of common/ are layers, and only few files see the system.

Usage: includes.py ROOT
"""

import re
import sys

import tree

# Folder of common/ -> what its files may include: folders, or single headers.
ARROWS = {
    "base": ("base/",),
    "parse": ("base/", "parse/"),
    "abi": ("base/", "abi/"),
    "tables": ("base/", "tables/"),
    "host": ("base/", "parse/", "abi/", "host/"),
    "pipeline": ("base/", "tables/", "pipeline/", "host/env.h"),
    # A lane runs sources, and what it reads for itself comes through the env.
    "lanes": ("base/", "tables/", "pipeline/", "processes/usage.h", "lanes/", "host/env.h",
              "host/fs.h", "host/spawn_posix.h", "host/system_win32.h", "sources/drm/cards.h", "sources/source.h"),
    # Processes get their names from /proc.
    "processes": ("base/", "tables/", "pipeline/", "processes/", "host/env.h", "host/process.h"),
    "sinks": ("base/", "tables/", "pipeline/", "sinks/"),
    # It writes down what host/ asks, in the same layouts.
    "recording": ("base/", "parse/", "abi/", "host/", "recording/"),
    "sources": ("base/", "tables/", "parse/", "abi/", "host/", "pipeline/device.h",
                "pipeline/finding.h", "pipeline/reading.h", "pipeline/use.h", "processes/usage.h",
                "sources/drm/", "sources/source.h"),
    "sources/level_zero": ("sources/level_zero/",),
}
# Single files that join two layers, and what they may see beyond their folder's arrows.
JOINTS = {
    # Answers of drivers, in the kernel's layout.
    "common/parse/drm_regions.c": ("abi/",),
}
# Files of common/ that may include headers beyond those of ISO C, and which (None: any).
SYSTEM = {
    "common/host/child_posix.c": None,
    "common/host/dir_posix.c": None,
    "common/host/drm_fds_bpf.c": None,
    "common/host/drm_posix.c": None,
    "common/host/env_posix.c": None,
    "common/host/env_win32.c": None,
    "common/host/files_win32.c": None,
    "common/host/netlink_posix.c": None,
    "common/host/pmu_posix.c": None,
    "common/host/root_posix.c": None,
    "common/host/spawn_posix.c": None,
    "common/host/system_win32.c": None,
    "common/host/wmi_win32.c": None,
    "common/lanes/channel_posix.c": None,
    "common/lanes/channel_win32.c": None,
    "common/lanes/helper_text_posix.c": None,  # the pipe beside that socket
    "common/lanes/helper_text_win32.c": None,
    "common/lanes/peer_posix.c": None,  # the other end of that socket
    "common/lanes/peer_win32.c": None,
    "common/lanes/pipe_win32.c": None,
    "common/lanes/pipe_win32.h": None,
    "common/parse/json.c": ("yajl/yajl_parse.h",),
    "common/host/env_posix.h": ("sys/types.h",),
    "common/host/spawn_posix.h": ("sys/types.h",),
    "common/lanes/channel.h": ("sys/types.h",),
    "common/host/fs.c": ("fcntl.h", "unistd.h", "dirent.h", "sys/stat.h"),
}
ISO_C = {
    "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h", "iso646.h",
    "limits.h", "locale.h", "math.h", "setjmp.h", "signal.h", "stdalign.h", "stdarg.h",
    "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "stdnoreturn.h",
    "string.h", "tgmath.h", "threads.h", "time.h", "uchar.h", "wchar.h", "wctype.h",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]')


def may_see(path, target):
    folder = path.split("/")[1] if path.count("/") > 1 else ""
    if folder == "":
        return True  # context.c and gtel.h join everything
    allowed = ARROWS.get(folder, ()) + JOINTS.get(path, ())
    own = path[len("common/"):].rsplit("/", 1)[0]
    if folder == "sources":
        # A source that became a folder, and the folder that two sources of one library share.
        allowed += (own + "/",) if own != folder else ()
        allowed += ARROWS.get("/".join(own.split("/")[:2]), ())
    return any(target == a or (a.endswith("/") and target.startswith(a)) for a in allowed)


def check(path, number, kind, target, found):
    if kind == "<":
        allowed = SYSTEM.get(path, ())
        if target not in ISO_C and allowed is not None and target not in allowed:
            found.add(path, number, f"<{target}>: only {', '.join(sorted(SYSTEM))} may see the system")
    elif "/" not in target and target != "gtel.h":
        found.add(path, number, f'"{target}": name the folder, as "base/str.h"')
    elif not may_see(path, target):
        found.add(path, number, f'"{target}": no arrow leads from {path.split("/")[1]}/ there')


# What `gtel doctor` says of the kernel and of the program's rights.
FRONT_END_PARSERS = ("parse/proc.h",)


def main():
    root = sys.argv[1]
    found = tree.Findings("includes")
    for path in tree.files(root, (".c", ".h", ".def"), ("common",)):
        found.checked += 1
        for number, line in enumerate(tree.read(root, path).split("\n"), 1):
            match = INCLUDE.match(line)
            if match:
                check(path, number, match.group(1), match.group(2), found)
    for path in tree.files(root, (".c", ".h"), ("plugins",)):
        found.checked += 1
        for number, line in enumerate(tree.read(root, path).split("\n"), 1):
            match = INCLUDE.match(line)
            if match and match.group(2) in FRONT_END_PARSERS:
                continue
            if match and match.group(1) == '"' and match.group(2).startswith(("parse/", "abi/", "sources/")):
                found.add(path, number, f'"{match.group(2)}": front ends include gtel.h')
    found.finish()


main()
