#!/usr/bin/env bash
# The documentation: every relative link leads somewhere, every page is reached from the index, every
# verb has its page, and options named on a verb's page are options of the program.
. "$(dirname "$0")/lib.bash"

cd "$tests/.."
python3 - <<'PYTHON' || fail "links in the documentation"
import pathlib, re, sys
wrong, reached = [], set()
pages = [pathlib.Path(name) for name in ("README.md", "CONTRIBUTING.md")]
pages += [*pathlib.Path("docs").rglob("*.md"), *pathlib.Path("examples").glob("*.md")]
def anchors(path):
    for title in re.findall(r"^#+ (.*)$", path.read_text(), re.M):
        yield re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
for page in pages:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page.resolve()
        reached.add(target)
        if not target.exists():
            wrong.append(f"{page}: {link}")
        elif anchor and anchor not in anchors(target):
            wrong.append(f"{page}: {link}: no such heading")
wrong += [f"{page}: no page leads to it" for page in pages
          if page.parts[0] == "docs" and page.resolve() not in reached]
sys.exit("\n".join(wrong) or 0)
PYTHON

"$QKSCOPE" help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | while read -r verb; do
    grep -qE "^# .*qkscope $verb\b" docs/verbs/*.md || fail "no page of qkscope $verb"
done
for page in docs/verbs/*.md; do
    grep -oE '^# .*' "$page" | grep -oE 'qkscope [a-z]+' | while read -r _ verb; do
        "$QKSCOPE" "$verb" --help && echo " --help"
    done >"$QKSCOPE_SCRATCH/help.txt"
    { grep -hoE -- '`--[a-z-]+' "$page" || true; } | tr -d '`' | sort -u | while read -r option; do
        grep -q -- " $option\b" "$QKSCOPE_SCRATCH/help.txt" || fail "$page: there is no $option"
    done
done
