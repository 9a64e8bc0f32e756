#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The packages for Windows: built twice, inspected, unzipped, installed and removed under Wine.

    windows_package.py --source DIR --wine PROGRAM --objdump PROGRAM [--launcher PROGRAM]

WINEPREFIX is that of the tests (contrib/ci/wine).
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import packages
import windows
from packages import EPOCH, check, digest, failures, must
from windows import Program, fixture, helpers, none_left, wait_for

TOP = "gtel-{}-windows-x86_64"
FILES = ["LICENSE.txt", "README.txt", "gpu.conf", "gtel.exe"]
INSTALLED = sorted(FILES + ["uninstall.exe"])
RUNNING = 2  # exit status of the installer while the program runs


def build(source, folder, launcher):
    """The ZIP, the installer and the folder of winget's texts, from a copy of the sources."""
    for name in ("common", "plugins", "contrib"):
        shutil.copytree(os.path.join(source, name), os.path.join(folder, name))
    for name in ("CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md", "LICENSE"):
        shutil.copy(os.path.join(source, name), folder)
    env = dict(os.environ, SOURCE_DATE_EPOCH=EPOCH, CMAKE_C_COMPILER_LAUNCHER=launcher)
    must("cmake", "--preset", "windows-package", cwd=folder, env=env)
    for preset in ("windows-zip", "windows-installer"):
        must("cpack", "--preset", preset, cwd=folder, env=env)
    made = os.path.join(folder, "build/windows-package/packages")
    return glob.glob(f"{made}/*.zip")[0], glob.glob(f"{made}/*.exe")[0], f"{made}/winget"


def check_texts(folder, source):
    """What people open: lines as the editors of Windows end them, and the paths of Windows."""
    texts = {}
    for name in FILES[:3]:
        with open(os.path.join(folder, name), "rb") as file:
            text = file.read()
        check(text.endswith(b"\r\n") and text.count(b"\r\n") == text.count(b"\n") > 5 and
              text.count(b"\r") == text.count(b"\n"), f"{name}: each line ends with CR LF")
        check(text.isascii(), f"{name}: it is the same in each code page")
        texts[name] = text.decode("ascii", "replace").replace("\r\n", "\n")
    with open(os.path.join(source, "LICENSE"), encoding="utf-8") as file:
        check(texts["LICENSE.txt"] == file.read(), "the licence is the sources'")
    conf = texts["gpu.conf"]
    check("\n  command = ['C:\\Program Files\\gtel\\gtel.exe']\n" in conf, f"gpu.conf: {conf}")
    check(not re.search(r"/usr|/etc|xe,i915|container", conf), f"gpu.conf names Linux: {conf}")
    for section in ("Unzip", "Telegraf", "The account of the service", "Remove"):
        check(re.search(f"^## .*{section}$", texts["README.txt"], re.M), f"README: {section}")
    check("](" not in texts["README.txt"], "README: its links would lead nowhere")


def check_program(path, objdump, build_folder):
    text = must(objdump, "-p", path)
    found = sorted(name.lower() for name in re.findall(r"DLL Name: (\S+)", text))
    check(found == ["kernel32.dll", "msvcrt.dll"], f"imports: {found}")
    for flag in ("HIGH_ENTROPY_VA", "DYNAMIC_BASE", "NX_COMPAT"):
        check(flag in text, f"the program has {flag}")
    check(".debug" not in must(objdump, "-h", path), "it is stripped")
    with open(path, "rb") as file:
        check(build_folder.encode() not in file.read(), "it has no path of the build")


def check_winget(folder, zip_path, version):
    """Three texts that agree with each other and with the ZIP."""
    texts = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="ascii") as file:
            texts[name] = file.read()
        check("@" not in texts[name], f"{name}: something was not filled in: {texts[name]}")
        check(f"\nPackageIdentifier: gtel.gtel\nPackageVersion: {version}\n" in texts[name],
              f"{name}: {texts[name]}")
    check(sorted(texts) == [f"gtel.gtel{kind}.yaml" for kind in
                            (".installer", ".locale.en-US", "")], f"winget: {sorted(texts)}")
    installer = texts["gtel.gtel.installer.yaml"]
    check(f"InstallerSha256: {digest(zip_path).upper()}\n" in installer, "the ZIP's sum")
    check(f"/{os.path.basename(zip_path)}\n" in installer, "the ZIP's name")
    relative = re.search(r"RelativeFilePath: (.*)\n", installer)[1].replace("\\", "/")
    with zipfile.ZipFile(zip_path) as file:
        check(relative in file.namelist(), f"the ZIP has {relative}")


def drive(*parts):
    return os.path.join(os.environ["WINEPREFIX"], "drive_c", *parts)


def wine(args, *words):
    """Into a file: what Wine starts for a window keeps a pipe open for longer than the program."""
    with tempfile.TemporaryFile() as out:
        code = subprocess.run([args.wine, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                              timeout=120, check=False).returncode
        out.seek(0)
        return code, out.read().decode(errors="replace").replace("\r", "")


def contents(folder):
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def registry(args):
    """What the list of programs has."""
    key = r"HKLM\Software\Microsoft\Windows\CurrentVersion\Uninstall\gtel"
    code, text = wine(args, "reg", "query", key)
    return text if code == 0 else ""


def check_installed(args, installer, version):
    """Where it goes by itself; what it leaves."""
    folder = drive("Program Files", "gtel")
    name = r"C:\Program Files\gtel"
    try:
        code, text = wine(args, installer, "/S")
        check(code == 0 and contents(folder) == INSTALLED, f"install: {code} {text}")
        check(wine(args, name + r"\gtel.exe", "--version")[1] == f"gtel {version}\n",
              "the installed program runs")
        listed = registry(args)
        for value in (f"DisplayVersion    REG_SZ    {version}\n", f'"{name}\\uninstall.exe" /S\n',
                      f"InstallLocation    REG_SZ    {name}\n"):
            check(value in listed, f"the list of programs has {value!r}: {listed}")
        with open(os.path.join(folder, "mine.conf"), "w", encoding="ascii") as file:
            file.write("[[inputs.gtel]]\n")
        check(wine(args, installer, "/S")[0] == 0, "over an installation")
        check(wine(args, name + r"\uninstall.exe", "/S")[0] == 0, "the uninstaller")
        # A copy of it, elsewhere, does the work.
        check(wait_for(lambda: contents(folder) == ["mine.conf"] and registry(args) == "", 20),
              f"it leaves {contents(folder)} and {registry(args)!r}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_running(args, installer, scratch):
    """While it runs nothing of it is changed; in a folder that the user names."""
    folder = drive("gtel-elsewhere")
    name = r"C:\gtel-elsewhere"
    try:
        code, text = wine(args, installer, "/S", "/D=" + name)
        check(code == 0 and contents(folder) == INSTALLED, f"/D: {code} {text}")
        # A copy that the test makes, since the status of the uninstaller's own is not to be had.
        shutil.copy(os.path.join(folder, "uninstall.exe"), drive("gtel-un.exe"))
        program = Program(args, name + r"\gtel.exe", "--root", fixture(args, "xe-b580", scratch))
        program.gather()
        check(len(helpers(scratch)) > 0, "the installed program starts its helpers")
        check(wine(args, installer, "/S", "/D=" + name)[0] == RUNNING, "the installer refuses")
        check(wine(args, r"C:\gtel-un.exe", "/S", "_?=" + name)[0] == RUNNING,
              "the uninstaller refuses")
        check(contents(folder) == INSTALLED, f"all is there: {contents(folder)}")
        program.end("installed")
        none_left(scratch, "installed")
        check(wine(args, r"C:\gtel-un.exe", "/S", "_?=" + name)[0] == 0, "the uninstaller")
        check(not os.path.exists(folder), f"the folder goes with it: {contents(folder)}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if os.path.exists(drive("gtel-un.exe")):
            os.remove(drive("gtel-un.exe"))


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "wine", "objdump"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--launcher", default="")
    args = parser.parse_args()
    with open(os.path.join(args.source, "CMakeLists.txt"), encoding="utf-8") as file:
        version = re.search(r"project\(gtel VERSION (\S+)", file.read())[1]
    with tempfile.TemporaryDirectory(prefix="gtel-windows-package-") as scratch:
        one = os.path.join(scratch, "one")
        zip_path, installer, winget = build(args.source, one, args.launcher)
        again = build(args.source, os.path.join(scratch, "another/place/tree"), args.launcher)
        for a, b in zip((zip_path, installer), again):
            check(digest(a) == digest(b), f"the same bytes twice: {os.path.basename(a)}")
        top = TOP.format(version)
        check(os.path.basename(zip_path) == top + ".zip", f"its name: {zip_path}")
        with zipfile.ZipFile(zip_path) as file:
            check(sorted(file.namelist()) == [f"{top}/{name}" for name in FILES],
                  f"the ZIP has {file.namelist()}")
            file.extractall(os.path.join(scratch, "a folder"))
        folder = os.path.join(scratch, "a folder", top)
        check_texts(folder, args.source)
        check_program(os.path.join(folder, "gtel.exe"), args.objdump, one)
        check_winget(winget, zip_path, version)
        done = wine(args, os.path.join(folder, "gtel.exe"), "--version")
        check(done == (0, f"gtel {version}\n"), f"the unzipped program: {done}")
        check_installed(args, installer, version)
        check_running(args, installer, scratch)
    count = len(failures) + len(windows.failures)
    print(f"{packages.checks} checks, {count} failed")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
