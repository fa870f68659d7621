#!/usr/bin/env bash
# Every test that docs/reliability.md names is there.
. "$(dirname "$0")/lib.bash"

python3 - "$tests" <<'PY' || fail "docs/reliability.md names tests that are not there"
import fnmatch, pathlib, re, sys
tests = pathlib.Path(sys.argv[1])
text = (tests.parent / "docs/reliability.md").read_text()
faults = text[text.index("## Faults"):text.index("## Isolation")]
missing, seen, source = [], 0, None
for name in re.findall(r"`((?:[a-z]+/[a-z_]+)?(?::test_[a-z_0-9*]+)?)`", faults):
    room, _, case = name.partition(":")
    if room:
        folder, file = room.split("/")
        source = {"cli": tests / "cli" / f"{file}.sh", "fuzz": tests / "fuzz" / f"fuzz_{file}.c",
                  "torture": tests.parent / "cmake/Tests.cmake",
                  "scripts": tests.parent / "scripts" / file}.get(folder, tests / folder / f"test_{file}.c")
    content = source.read_text() if source.is_file() else ""
    cases = re.findall(r"\b(test_\w+)\b", content)
    if not content or (case and not fnmatch.filter(cases, case)) or (
            room.startswith("torture/") and room not in content):
        missing.append(name)
    seen += 1
print(seen, "names;", "missing:", missing)
sys.exit(bool(missing) or seen < 60)
PY
