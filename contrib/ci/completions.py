# SPDX-License-Identifier: MIT
"""Completions of bash, zsh and fish, made from what the program prints.

pages() gives {path: text} for docs.py, which writes and compares them.
"""

import os
import re

from man import printed

FOLDER = os.path.join("contrib", "docs", "completions")
HEAD = "# SPDX-License-Identifier: MIT\n# Written by contrib/ci/docs; do not edit.\n"
COMMANDS = {"doctor": "what is missing, why, and how to get it",
            "capture": "write a recorded machine"}
BASH = r'''_gtel() {
    local name="" word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local words="" before_word=""
    # A "=" is a word for itself.
    if [ "$word" = "=" ]; then
        name=$before word=""
    elif [ "$before" = "=" ]; then
        name=${COMP_WORDS[COMP_CWORD - 2]}
    else
        name=$before
    fi
    COMPREPLY=()
    case $name in
@CASES@    esac
    case $name:$words in
    @FILES@)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    @LISTS@)
        case $word in *,*) before_word=${word%,*}, ;; esac
        word=${word##*,}
        ;;
    *:?*) ;;
    *)
        words="@NAMES@"
        [ "$COMP_CWORD" -gt 1 ] || words="@COMMANDS@ $words"
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$before_word" -W "$words" -- "$word")
    case ${COMPREPLY-} in *=) compopt -o nospace 2>/dev/null ;; esac
}
complete -o default -F _gtel gtel
'''


def options(gtel):
    """The options of `gtel --help`: name, kind of value, words, the first sentence."""
    sources = [line.split("|")[1].strip(" `")
               for line in printed(gtel, "--list-sources").splitlines()[2:]]
    found = []
    for match in re.finditer(r"^  --([\w-]+)(=\S+)?(.*)\n((?:      .*\n)+)", printed(gtel, "--help"),
                             re.M):
        name, value, rest, text = match.groups()
        text = " ".join(text.split())
        words = re.search(r"(?:one|any) of ([\w,]+)", rest + " " + text)
        text = re.sub(r"^any of \S+ ", "", text)
        option = {"name": name, "kind": (value or "")[1:], "words": [],
                  "text": re.split(r"[.:;](?: |$)", text)[0]}
        if words and value:
            option["words"] = words[1].split(",")
        if name == "sources":
            option["words"] = sources
        option["is_list"] = name == "sources" or option["kind"].endswith("...")
        option["is_file"] = option["kind"] in ("PATH", "FILE")
        found.append(option)
    return found


def bash(found):
    cases = "".join(f'    --{o["name"]}) words="{" ".join(o["words"])}" ;;\n'
                    for o in found if o["words"])
    names = " ".join(f'--{o["name"]}{"=" if o["kind"] else ""}' for o in found)
    text = BASH.replace("@CASES@", cases).replace("@NAMES@", names)
    text = text.replace("@FILES@", " | ".join(f'--{o["name"]}:' for o in found if o["is_file"]))
    text = text.replace("@LISTS@", " | ".join(f'--{o["name"]}:*' for o in found if o["is_list"]))
    return "# shellcheck shell=bash\n" + HEAD + text.replace("@COMMANDS@", " ".join(COMMANDS))


def zsh_value(option):
    if option["is_file"]:
        return f':{option["kind"].lower()}:_files'
    words = " ".join(option["words"])
    if option["is_list"]:
        return f':words:_sequence compadd - {words}'
    return f':{option["kind"].lower()}:({words})'


def zsh(found):
    lines = []
    for o in found:
        name = f'--{o["name"]}{"=" if o["kind"] else ""}'
        text = o["text"].replace("[", "(").replace("]", ")").replace("'", r"'\''")
        lines.append(f"  '{name}[{text}]{zsh_value(o) if o['kind'] else ''}' \\\n")
    commands = " ".join(f'{name}\\:"{text}"' for name, text in COMMANDS.items())
    return ("#compdef gtel\n" + HEAD + "_arguments \\\n" + "".join(lines)
            + f"  '1:command:(({commands}))' \\\n  '*:file:_files'\n")


def fish(found):
    lines = ["complete -c gtel -f\n"]
    lines += [f"complete -c gtel -n __fish_is_first_token -a {name} -d '{text}'\n"
              for name, text in COMMANDS.items()]
    lines += ["complete -c gtel -n '__fish_seen_subcommand_from capture' -F\n"]
    for o in found:
        line = f'complete -c gtel -l {o["name"]}'
        if o["is_file"]:
            line += " -r -F"
        elif o["is_list"]:
            line += f" -x -a '(__fish_append , {' '.join(o['words'])})'"
        elif o["kind"]:
            line += f" -x -a '{' '.join(o['words'])}'" if o["words"] else " -x"
        text = o["text"].replace("'", r"\'")
        lines.append(f"{line} -d '{text}'\n")
    return HEAD + "".join(lines)


def pages(gtel):
    found = options(gtel)
    page = {"gtel.bash": bash(found), "_gtel": zsh(found), "gtel.fish": fish(found)}
    return {os.path.join(FOLDER, name): text for name, text in page.items()}
