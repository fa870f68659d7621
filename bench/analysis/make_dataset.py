#!/usr/bin/env python3
"""Writes a captured dataset of made-up vectors: l{LL}h{HH}{q|k}/data.parquet, one row per vector.

The heads look like real ones: queries and keys each with a mean of their own, noise whose variance
falls from axis to axis, and a drift with position along a direction that both share. As in a real
capture, the heads of a layer share their positions, and positions rise within each document.
Numbers are rounded to bfloat16 (a model's working precision) unless --precision f32 is given.
"""
import argparse
import pathlib
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

QUERY_HEADS, KEY_HEADS = 300, 96  # of the published studies: how many queries share a key head


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--heads", type=int, default=QUERY_HEADS, help="query heads")
    p.add_argument("--rows", type=int, default=8192, help="vectors per head")
    p.add_argument("--dimension", type=int, default=128)
    p.add_argument("--shape", default="24/16/4", help="layers, query heads, key heads")
    p.add_argument("--documents", type=int, default=20)
    p.add_argument("--context", type=int, default=65536)
    p.add_argument("--bucket", type=int, default=4096)
    p.add_argument("--precision", choices=["bf16", "f32"], default="bf16")
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def choose_heads(shape, wanted, seed):
    """(layer, head, kind) of the query heads, spread over their share of the key heads."""
    layers, q_heads, kv_heads = shape
    share = q_heads // kv_heads
    n_keys = max(1, round(wanted * KEY_HEADS / QUERY_HEADS))
    keys = [(layer, head) for layer in range(layers) for head in range(kv_heads)][:n_keys]
    groups = [[(layer, head * share + i) for i in range(share)] for layer, head in keys]
    if not n_keys <= wanted <= n_keys * share:
        raise SystemExit(f"a model of shape {layers}/{q_heads}/{kv_heads} has no {wanted} heads")
    draw = random.Random(seed)
    chosen = [draw.choice(group) for group in groups]
    others = [head for group in groups for head in group if head not in chosen]
    chosen += draw.sample(others, wanted - len(chosen))
    return [(*head, "q") for head in sorted(chosen)] + [(*head, "k") for head in keys]


def rows_of(layer, kind, a):
    """example_id and position of a layer's rows: documents of nearly equal shares."""
    draw = np.random.default_rng([a.seed, layer, ord(kind)])
    ends = np.arange(a.documents + 1) * a.rows // a.documents
    parts = [np.sort(draw.choice(a.context, n, replace=False)) for n in np.diff(ends)]
    return np.repeat(np.arange(a.documents), np.diff(ends)), np.concatenate(parts)


def vectors_of(layer, head, kind, share, position, a):
    d = a.dimension
    group = np.random.default_rng([a.seed, layer, head // share if kind == "q" else head])
    draw = np.random.default_rng([a.seed, layer, head, ord(kind)])
    drift = group.standard_normal(d)
    drift /= np.linalg.norm(drift)
    axes, _ = np.linalg.qr(draw.standard_normal((d, d)))
    spread = 2 * np.arange(1, d + 1) ** -0.5
    mean = 0.75 * draw.standard_normal(d)
    strength = draw.uniform(-4, 8)
    noise = draw.standard_normal((len(position), d)) * spread @ axes.T
    return (mean + noise + np.outer(position / a.context, strength * drift)).astype(np.float32)


def to_bf16(x):
    """Rounded to the nearest bfloat16, ties to even, and back."""
    bits = x.view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


def write_head(a, share, layer, head, kind):
    document, position = rows_of(layer, kind, a)
    x = vectors_of(layer, head, kind, share, position, a)
    if a.precision == "bf16":
        x = to_bf16(x)
    table = pa.table({
        "bucket": pa.array(position // a.bucket, pa.int32()),
        "example_id": pa.array(document, pa.int32()),
        "position": pa.array(position, pa.int32()),
        "vector": pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), a.dimension),
        "sliding_window": pa.nulls(a.rows, pa.int32()),
    })
    folder = a.out / f"l{layer:02d}h{head:02d}{kind}"
    folder.mkdir(parents=True)
    pq.write_table(table, folder / "data.parquet", compression="zstd")


def main():
    a = parse_arguments()
    shape = tuple(int(n) for n in a.shape.split("/"))
    for head in choose_heads(shape, a.heads, a.seed):
        write_head(a, shape[1] // shape[2], *head)


if __name__ == "__main__":
    main()
