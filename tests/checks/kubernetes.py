#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manifest fits Kubernetes' schemas, and one with a fault does not.

    kubernetes.py KUBERNETES-VALIDATE MANIFEST
"""
import os
import subprocess
import sys
import tempfile

FAULTS = (("hostPID: true", "hostPID: 3"), ("readOnly: true", "readOnly: yes-please"),
          ("kind: DaemonSet", "kind: DaemonSet\nspecc: {}"))


def validate(program, path):
    done = subprocess.run([program, "--strict", path], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def main():
    program, manifest = sys.argv[1:]
    code, text = validate(program, manifest)
    failed = []
    if code != 0 or text.count(" passed for resource ") != 2:
        failed.append(f"{manifest}: {text}")
    with open(manifest, encoding="utf-8") as file:
        good = file.read()
    for old, new in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bad.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(good.replace(old, new, 1))
            if old not in good or validate(program, path)[0] == 0:
                failed.append(f"a manifest with {new!r} passes")
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
