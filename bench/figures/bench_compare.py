#!/usr/bin/env python3
"""From tables to figures: qkscope (PNG, SVG and PDF of each, with script, data and explanation) beside
pandas + matplotlib (PNG only), on the study of eleven models."""
import csv
import pathlib
import shutil
import statistics
import sys

import numpy

import measure
from measure import BENCH, QKSCOPE, SCRATCH, run, spread, table

STUDY = BENCH.parent / "tests/data/analysis/figures/models_synthetic"
HEADS, POINTS = 4, 800  # of the collage
FIGURES, TARGET = 6, 2  # figures of a study of models; times faster


def add_collage(tables):
    """Points for figure 6: heads of the study, with vectors made up."""
    draw = numpy.random.default_rng(0)
    with open(tables / "qk.csv", newline="") as file:
        heads = [row for row in csv.DictReader(file) if row["pc"] == "0"][::700][:HEADS]
    (tables / "collage.parquet").unlink()  # empty: a qk table has no vectors
    with open(tables / "collage.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["model", "layer", "head", "side", "position", "pc0", "pc1"])
        for head in heads:
            for side, sign in (("q", 1), ("k", -1)):
                for position in range(0, 5 * POINTS, 5):
                    x, y = draw.normal(sign * (1 + position / 1000), 0.8), draw.normal()
                    rows.writerow([head["model"], head["layer"], head["head"], side, position, x, y])


def made_tables():
    tables = SCRATCH / "figures" / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    run(QKSCOPE, "analyze", STUDY / "qk.csv", "--study", STUDY / "study.csv", "--out", tables)
    add_collage(tables)
    return tables


def drawn(folder, pattern):
    files = list(folder.glob(pattern))
    if len(files) != FIGURES:
        sys.exit(f"{folder} has {len(files)} of {pattern}, not {FIGURES}")
    return sum(file.stat().st_size for file in files) / 1e6


def main():
    stamp = measure.Stamp("matplotlib", "pandas", "numpy")
    tables, out = made_tables(), SCRATCH / "figures"
    script = pathlib.Path(__file__).with_name("peer.py")
    for folder in ("mine", "png", "peer"):
        shutil.rmtree(out / folder, ignore_errors=True)
    runs = measure.interleaved({
        "matplotlib": lambda: run(sys.executable, script, tables, out / "peer"),
        "qkscope": lambda: run(QKSCOPE, "figures", tables, "--out", out / "mine"),
        "qkscope, PNG": lambda: run(QKSCOPE, "figures", tables, "--out", out / "png",
                                    "--format", "png"),
        "page": lambda: run(QKSCOPE, "report", tables, "--out", out / "report.html"),
    }, repeats=5)
    sizes = {kind: drawn(out / "mine", f"*/figure.{kind}") for kind in ("png", "svg", "pdf")}
    drawn(out / "peer", "*.png")
    base = statistics.median(one.wall for one in runs["matplotlib"])

    print("## Figures: tables to pictures\n")
    print(f"The {FIGURES} figures of the eleven-model study (3,239 heads, 32,390 rows), from CSV and "
          "Parquet tables. qkscope runs gnuplot for two figures at once and writes script, data and "
          "explanation beside each; matplotlib draws the same to PNG at the same resolution. Wall "
          "seconds, median and range of 5 interleaved runs; processor seconds; peak resident MB of "
          "the largest process.\n")
    rows = []
    for name, what in (("matplotlib", "PNG"), ("qkscope", "PNG, SVG, PDF"), ("qkscope, PNG", "PNG")):
        wall = [one.wall for one in runs[name]]
        rows.append([name.split(",")[0], what, spread(wall), f"{base / statistics.median(wall):.1f}x",
                     f"{statistics.median(one.cpu for one in runs[name]):.2f}",
                     f"{max(one.peak for one in runs[name]):.0f}"])
    print(table(["program", "draws", "wall, s", "faster", "processor, s", "peak, MB"], rows))
    print(f"\nTarget: three formats at least {TARGET}x faster than matplotlib's one.\n")
    page = [one.wall for one in runs["page"]]
    print(f"- the page (`qkscope report`): {spread(page)} s, "
          f"{(out / 'report.html').stat().st_size / 1e6:.2f} MB without figures; targets: under a "
          "second, under 5 MB")
    print("- sizes of all six: " + ", ".join(f"{kind} {mb:.2f} MB" for kind, mb in sizes.items()))
    print(f"\n{stamp}")


if __name__ == "__main__":
    main()
