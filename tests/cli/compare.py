"""Compare a CSV table with an expected one: rows by keys, columns by tolerances.

    compare.py ACTUAL EXPECTED --key model,layer,head --abs 1e-9 r_q,r_k --rel 1e-8 alpha_q,alpha_k
               [--same class,n_q] [--actual-only pc=0] [--when unique=1] [--some-rows]

--abs and --rel are absolute and relative tolerances; --same wants equal text. A column called
differently in the two files is written actual=expected. --actual-only drops rows of ACTUAL before
anything else; after --when, the columns that follow count only where the expected row says so
(`--when -` ends it). Both files must have the same rows, unless --some-rows lets ACTUAL have more.
A blank equals only a blank. Prints the worst difference of each column; exit 1 if one is too large.
`--` begins another comparison.
"""

import csv
import sys


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def parse(arguments):
    actual, expected, *rest = arguments
    options = {"key": [], "only": None, "some": False, "columns": []}
    when = None
    words = iter(rest)
    for word in words:
        if word == "--some-rows":
            options["some"] = True
        elif word == "--key":
            options["key"] = next(words).split(",")
        elif word == "--actual-only":
            options["only"] = next(words).split("=")
        elif word == "--when":
            value = next(words)
            when = None if value == "-" else value.split("=")
        elif word in ("--abs", "--rel", "--same"):
            tolerance = float(next(words)) if word != "--same" else 0.0
            for name in next(words).split(","):
                ours, _, theirs = name.partition("=")
                options["columns"].append((word[2:], tolerance, ours, theirs or ours, when))
        else:
            sys.exit(f"compare.py: what is {word}?")
    return actual, expected, options


def difference(kind, ours, theirs):
    """How far apart two cells are; infinite if they cannot be compared."""
    if kind == "same" or ours == "" or theirs == "":
        return 0.0 if ours == theirs else float("inf")
    off = abs(float(ours) - float(theirs))
    if kind == "rel" and float(theirs) != 0:
        off /= abs(float(theirs))
    return off if off == off else float("inf")


def rows_by_key(path, key, only=None):
    rows = [row for row in read(path) if not only or row[only[0]] == only[1]]
    by_key = {tuple(row[k] for k in key): row for row in rows}
    if not rows or len(by_key) != len(rows):
        sys.exit(f"{path} has no rows, or the same keys twice")
    return by_key


def compare(arguments):
    """Print a line per column; true if all is as expected."""
    actual_path, expected_path, options = parse(arguments)
    actual = rows_by_key(actual_path, options["key"], options["only"])
    expected = rows_by_key(expected_path, options["key"])
    print(f"{actual_path} and {expected_path}")
    missing, more = expected.keys() - actual.keys(), actual.keys() - expected.keys()
    fine = not missing and (options["some"] or not more)
    if not fine:
        print(f"FAILED {len(missing)} rows are missing, {len(more)} are too many")
    for kind, tolerance, ours, theirs, when in options["columns"]:
        worst, where, counted = 0.0, None, 0
        for key in expected.keys() & actual.keys():
            if when and expected[key][when[0]] != when[1]:
                continue
            counted += 1
            off = difference(kind, actual[key][ours], expected[key][theirs])
            if off > worst:
                worst, where = off, (key, actual[key][ours], expected[key][theirs])
        bad = worst > tolerance or counted == 0
        fine = fine and not bad
        print(f"{'FAILED' if bad else 'ok':6} {ours:24} worst {worst:.1e} of {counted}"
              f" ({kind} {tolerance:g})" + (f" at {where}" if bad else ""))
    return fine


def main():
    comparisons = [[]]
    for word in sys.argv[1:]:
        if word == "--":
            comparisons.append([])
        else:
            comparisons[-1].append(word)
    sys.exit(0 if all([compare(c) for c in comparisons]) else 1)


main()
