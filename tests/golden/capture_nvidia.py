# SPDX-License-Identifier: MIT
"""What `gtel capture` writes and says of GPUs whose values are no files, and of what Windows refuses.

    capture_nvidia.py PROGRAM FIXTURES OUT
"""

import os
import subprocess
import sys

# Machine, lines of its file, what is said of it, what is not said.
CASES = [
    ("doctor-nvidia", [
        "file sys/devices/pci0000:00/0000:01:00.0/vendor\n| 0x10de\n",
        "file sys/devices/pci0000:00/0000:01:00.0/device\n| 0x2702\n",
        "file sys/devices/pci0000:00/0000:01:00.0/power/runtime_status\n| active\n",
        "link sys/devices/pci0000:00/0000:01:00.0/driver -> ../../../bus/pci/drivers/nvidia\n",
        "file proc/driver/nvidia/version\n| NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.120\n",
        "# NOT IN HERE: values of GPU 0000:01:00.0 (10de:2702, driver nvidia)",
        "# NOT IN HERE: answers of vendor libraries (libnvidia-ml.so.1)\n",
    ], [
        "not in the file: values of GPU 0000:01:00.0 (10de:2702, driver nvidia): its PCI device, "
        "power state and driver version are in the file; its values are answers of NVML",
    ]),
    # It does not say which kernel it has.
    ("h200", ["# NOT IN HERE: values of GPU 0000:00:06.0 (10de:2335, driver nvidia)"],
     ["replaced by made-up ones: nothing;"]),
    ("doctor-none", [], ["not in the file: "]),
    ("doctor-cards", [
        "file sys/devices/pci0000:00/0000:09:00.0/power/runtime_status\n| active\n",
        "file sys/devices/pci0000:00/0000:09:00.0/current_link_speed\n| 2.5 GT/s PCIe\n",
        "file sys/devices/pci0000:00/0000:09:00.0/current_link_width\n| 1\n",
        "file sys/devices/pci0000:00/0000:08:00.0/device\n| 0x1060\n",
    ], [
        "GPU 0000:02:00.0 (8086:56a0, no driver): its PCI device is in the file; it has no values",
        "GPU 0000:06:00.0 (0000:0000, no driver)",
        "GPU 0000:08:00.0 (1da3:1060, no driver)",
        "GPU 0000:09:00.0 (1a03:2000, driver ast): its PCI device and power state are in the file; no "
        "source reads this driver's values",
    ]),
    ("xe-b580", ["| PCI_ID=8086:E20B\n"], []),
]


# Answers of Windows for which there is no machine, in the place of lines of the one here.
OPEN = "call D3DKMTOpenAdapterFromDeviceName"
INFO = "call D3DKMTQueryAdapterInfo"
ANSWERS = [
    {f"{INFO} 0 25 0 = 1 3D\n": f"{INFO} 0 25 0 = !0xc0000022\n",
     f"{INFO} 0 25 1 = 6 Copy\n": f"{INFO} 0 25 1 = untouched\n",
     f"{INFO} 0 25 4 = 0 Compute\n": f"{INFO} 0 25 4 = !0xc000000d\n"},
    {f"{OPEN} 0 = 0xf814\n": f"{OPEN} 0 = !0xc0000022\n"},
    {f"{OPEN} 0 = 0xf814\n": f"{OPEN} = !nosymbol\n"},
    {f"{OPEN} 0 = 0xf814\n": "call D3DKMTCloseAdapter = !nosymbol\n"},
    {f"{INFO} 0 70 = 4:3\n": f"{INFO} = !nosymbol\n",
     f"{INFO} 0 13 = 4:3200\n": "call D3DKMTQueryStatistics = !nosymbol\n"},
]


def check_answers(program, fixtures, out):
    """Each is in the captured machine as it was given."""
    with open(f"{fixtures}/win-b580.tree", encoding="utf-8") as file:
        source = file.read()
    for answers in ANSWERS:
        text = source
        for line, other in answers.items():
            text = text.replace(line, other)
        with open(f"{out}.other", "w", encoding="utf-8") as file:
            file.write(text)
        os.remove(out)
        subprocess.run([program, "capture", out, "--root", f"{out}.other", "--interval", "1s"],
                       capture_output=True, timeout=60, check=True)
        with open(out, encoding="utf-8") as file:
            text = file.read()
        missing = [other for other in answers.values() if other not in text]
        if missing:
            sys.exit(f"lacks {missing}\n{text}")


def main():
    """All machines."""
    program, fixtures, out = sys.argv[1:]
    for name, lines, said in CASES:
        if os.path.exists(out):
            os.remove(out)
        done = subprocess.run([program, "capture", out, "--root", f"{fixtures}/{name}.tree",
                               "--interval", "1s"], capture_output=True, text=True, timeout=60,
                              check=False)
        if done.returncode != 0:
            sys.exit(f"{name}: exit status {done.returncode}\n{done.stderr}")
        with open(out, encoding="utf-8") as file:
            text = file.read()
        missing = [line for line in lines if line not in text]
        missing += [line for line in said if line not in done.stderr]
        if missing or "no GPU found" in done.stderr or "install" in done.stderr:
            sys.exit(f"{name}: lacks {missing}\n{done.stderr}\n{text}")
        if "# kernel" in text and "proc/sys/kernel/osrelease" not in text:
            sys.exit(f"{name}: names a kernel, but no file does\n{text[:400]}")
        if not said and "values of GPU" in done.stderr:
            sys.exit(f"{name}: has a source, but\n{done.stderr}")
    check_answers(program, fixtures, out)


main()
