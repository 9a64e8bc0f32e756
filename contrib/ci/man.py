# SPDX-License-Identifier: MIT
"""The man pages, made from what the program prints and from the comment in recording/tree.h.

pages() gives {path: text} for docs.py, which writes and compares them.
"""

import os
import re
import subprocess

FOLDER = os.path.join("contrib", "docs", "man")
HEAD = r'''.\" SPDX-License-Identifier: MIT
.\" Written by contrib/ci/docs; do not edit.
.TH {name} {section} "" "gtel {version}" "{manual}"
.SH NAME
{name} \- {summary}
'''
GTEL = r'''.SH SYNOPSIS
.B gtel
.RI [ OPTION ]...
.br
.B gtel doctor
.RI [ OPTION ]...
.br
.B gtel capture
.RI [ FILE ]
.RI [ OPTION ]...
.SH DESCRIPTION
.B gtel
reads the GPUs of this machine and writes line protocol to standard output: once for each newline on
standard input, until the input ends.
Telegraf runs it with
.B [[inputs.execd]]
and signal = "STDIN".
The plugins
.BR gpu_intel ,
.BR gpu_amd ,
.BR gpu_nvml ,
.B gpu_drm
and
.B gpu_clients
of collectd run it as their helper.
.PP
A value is right or absent.
A sleeping GPU is not woken.
Drivers and vendor libraries are called in helper processes.
.TP
.B gtel doctor
Reports for each GPU which groups of values are available and from which source, which are missing
and why, and the commands that help.
.B \-\-fix\-script
prints these commands as a shell script, to be read and run by a person.
.TP
.B gtel capture
Writes a recorded machine: what the sources read in
.B \-\-count
gathers (3), without serial numbers and names.
A FILE that exists is not replaced.
.SH OPTIONS
One dash or two,
.B \-
or
.BR _ ,
.BI \-\-name= value
or
.BI \-\-name " value" \fR.
A TIME is 500ms, 10s, 2m or 1h.
@OPTIONS@.SH OUTPUT
Tags of every line about a GPU are
.BR gpu ,
.BR vendor ,
.B driver
and
.BR model .
Units are in the names of the fields.
.B gtel \-\-list\-metrics
prints what each field means.
@METRICS@.SH EXIT STATUS
0 at the end of the input or after a signal to end; 1 when it failed; 2 for an unknown option or a
value out of range.
.B gtel doctor
ends with 1 when something can be fixed.
.SH EXAMPLES
.nf
gtel \-\-once
gtel \-\-explain
gtel \-\-root my\-machine.tree \-\-once
sudo systemd\-run \-\-pipe \-\-uid=telegraf \e
    \-p AmbientCapabilities="CAP_PERFMON CAP_SYS_PTRACE" \e
    \-p SupplementaryGroups=render gtel doctor
.fi
.SH SEE ALSO
.BR gtel.tree (5),
.BR collectd\-gtel (5),
.BR telegraf (1)
'''
COLLECTD = r'''.SH SYNOPSIS
.nf
LoadPlugin gpu_intel
LoadPlugin gpu_amd
LoadPlugin gpu_nvml
LoadPlugin gpu_drm
LoadPlugin gpu_clients
<Plugin gpu_intel>
  Deadline "500ms"
</Plugin>
.fi
.SH DESCRIPTION
.BR gpu_intel ,
.BR gpu_amd ,
.B gpu_nvml
and
.B gpu_drm
read the GPUs of a host, and
.B gpu_clients
which processes use them; those of NVIDIA GPUs are in
.BR gpu_nvml .
Each plugin starts the program
.BR gtel (1)
as a helper, which must have the same version.
.SH OPTIONS
All plugins have the same options.
A time is a text with a unit ("500ms", "2m") or a number of seconds.
An unknown option or a value out of range is logged and ignored.
@OPTIONS@.SH VALUES
The plugin instance is the PCI address of the GPU.
Types and type instances follow by measurement;
.B %
is the part of the GPU that the value is about, such as an engine or a sensor.
@METRICS@.SH SEE ALSO
.BR gtel (1),
.BR collectd.conf (5),
.BR types.db (5)
'''
TREE = r'''.SH DESCRIPTION
A recorded machine is one text file with the files, links and answers that
.BR gtel (1)
reads of a machine, over time.
.B gtel capture
writes one, and
.B gtel \-\-root FILE.tree
reads it instead of the real machine.
.SH FORMAT
@FORMAT@.SH SEE ALSO
.BR gtel (1)
'''


def roff(text):
    """Text of a line."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("…", "...")
    return r"\&" + text if text.startswith((".", "'")) else text


def entry(name, text):
    """A tagged paragraph."""
    return f".TP\n.B {roff(name)}\n{roff(text)}\n"


def printed(gtel, flag):
    return subprocess.run([gtel, flag], check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL).stdout


def cells(line):
    return [c.strip().strip("`") for c in line.strip("|").split("|")]


def options_of_help(gtel):
    """The options of `gtel --help`: a line with the name, and lines of text that are indented."""
    lines = printed(gtel, "--help").splitlines()
    found = []
    for line in lines:
        if line.startswith("  --"):
            found.append([line.strip(), []])
        elif found and line.startswith("      "):
            found[-1][1].append(line.strip())
    return "".join(entry(name, " ".join(text)) for name, text in found)


def options_of_collectd(gtel):
    text = ""
    for line in printed(gtel, "--list-options-collectd").splitlines()[2:]:
        name, default, values, meaning = cells(line)
        values = values.replace("`", "").replace("(empty)", "")
        default = "" if default == "(empty)" else f" Default: {default}."
        text += entry(f"{name} ({values})", meaning + default)
    return text


def metrics(gtel, column):
    """Of each measurement, what the column has of its fields."""
    text = ""
    for part in re.split(r"^### ", printed(gtel, "--list-metrics"), flags=re.M)[1:]:
        lines = part.splitlines()
        words = [cells(l)[column] for l in lines if l.startswith("| `")]
        if any(words):
            about = [l.replace("`", "") for l in lines[1:] if l and not l.startswith("|")]
            text += entry(lines[0].strip("`"), " ".join(about))
            text += f".IP\n{roff(', '.join(w for w in words if w))}\n"
    return text


def tree_format(root):
    """The comment at the top of recording/tree.h, as it stands there."""
    path = os.path.join(root, "common", "recording", "tree.h")
    with open(path, encoding="utf-8") as file:
        comment = re.search(r"^/\*\n(.*?)^ \*/", file.read(), re.M | re.S)[1]
    lines = [line[3:].rstrip() for line in comment.splitlines()]
    return ".nf\n" + "".join(f"{roff(line)}\n" for line in lines) + ".fi\n"


def pages(root, gtel):
    version = printed(gtel, "--version").split()[1]
    common = {"version": version}
    page = {}
    page["gtel.1"] = HEAD.format(name="gtel", section=1, manual="User Commands", **common,
                                 summary="GPU telemetry for Telegraf and collectd") + (
        GTEL.replace("@OPTIONS@", options_of_help(gtel)).replace("@METRICS@", metrics(gtel, 0)))
    page["collectd-gtel.5"] = HEAD.format(name=r"collectd\-gtel", section=5, manual="File Formats",
                                          summary="GPU plugins of collectd", **common) + (
        COLLECTD.replace("@OPTIONS@", options_of_collectd(gtel))
        .replace("@METRICS@", metrics(gtel, 2)))
    page["gtel.tree.5"] = HEAD.format(name="gtel.tree", section=5, manual="File Formats",
                                      summary="recorded machine", **common) + (
        TREE.replace("@FORMAT@", tree_format(root)))
    return {os.path.join(FOLDER, name): text for name, text in page.items()}
