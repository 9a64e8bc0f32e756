# SPDX-License-Identifier: MIT
"""Of a build's commands of the compiler, one for each file, for tools that read the code.

    tidy.py BUILD FOLDER

FOLDER gets a compile_commands.json. A file of a fake library stays once for each variant (FAKE_...);
what the build writes itself is not in it.
"""

import json
import os
import re
import sys


def main():
    build, folder = sys.argv[1:]
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    once = {}
    for command in commands:
        if not command["file"].startswith(os.path.realpath(build) + os.sep):
            variant = " ".join(sorted(re.findall(r"-DFAKE_\S+", command["command"])))
            once.setdefault((command["file"], variant), command)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(list(once.values()), file, indent=1)
    print(f"{len(once)} of {len(commands)} commands")


if __name__ == "__main__":
    main()
