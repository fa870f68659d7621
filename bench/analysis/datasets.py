"""The datasets of the benchmarks in this folder, made once and kept in the scratch folder."""
import os
import pathlib
import shutil
import sys

from measure import SCRATCH, run

SHAPE = "24/16/4"  # layers, query heads, key heads
SHARE = 4  # query heads per key head
HEADS, ROWS = 300, 8192


def free_gb(folder):
    return shutil.disk_usage(folder).free / 1e9


def made(heads=HEADS, rows=ROWS):
    """The folder of a dataset of so many query heads with so many vectors each."""
    folder = SCRATCH / "datasets" / f"heads-{heads}-rows-{rows}"
    if folder.exists():
        return folder
    needed = heads * 1.32 * rows * 128 * 4 / 1e9  # as if nothing could be compressed
    folder.parent.mkdir(parents=True, exist_ok=True)
    if free_gb(folder.parent) < needed + 1:
        sys.exit(f"'{folder}' needs up to {needed:.1f} GB; set BENCH_SCRATCH to a larger disk")
    print(f"  making {folder.name}", file=sys.stderr)
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    run(sys.executable, pathlib.Path(__file__).with_name("make_dataset.py"), part,
        "--shape", SHAPE, "--heads", heads, "--rows", rows)
    part.rename(folder)
    return folder


def first_heads(whole, count):
    """A dataset of links to the first query heads of another, and to their key heads."""
    folder = whole.with_name(f"first-{count}-of-{whole.name}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in sorted(entry.name for entry in whole.glob("l*q"))[:count]:
        layer, head = name[1:-1].split("h")
        keys = f"l{layer}h{int(head) // SHARE:02d}k"
        for wanted in (name, keys):
            if not (folder / wanted).exists():
                os.symlink(whole / wanted, folder / wanted)
    return folder
