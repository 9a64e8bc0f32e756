# SPDX-License-Identifier: MIT
"""A recorded machine's first state as real files, for programs that go through the kernel."""

import os
import re


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def expand(recording, folder):
    """Writes files and links below folder. The paths of what grows, which stand still here."""
    with open(recording, encoding="utf-8") as file:
        text = file.read().split("\n")
    growing = []
    number = 0
    while not re.match(r"(at|end)\b", text[number]):
        words = text[number].split(" ")
        number += 1
        path = os.path.join(folder, *words[1:2])
        if words[0] == "file":
            end = number
            while text[end].startswith("|"):
                end += 1
            put(path, "".join(line[2:] + "\n" for line in text[number:end]))
            number = end
        elif words[0] == "grow":
            growing.append(put(path, words[2] + "\n"))
        elif words[0] == "link":
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.symlink(words[3], path)
    return growing
