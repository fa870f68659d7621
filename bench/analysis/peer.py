#!/usr/bin/env python3
"""The peer: combined QK PCA with pandas and scikit-learn, head by head, as the published study did.

For each query head: read its queries and its key head's keys with pandas, stack them, fit a PCA on
the pooled rows, project each side, and correlate every component with position. With --groups, all
of it again without each document group in turn, for standard errors. Prints JSON: seconds per step
and the numbers found.
"""
import time

START = time.perf_counter()

import argparse
import json
import pathlib

import numpy as np
import pandas
from scipy.stats import pearsonr
from sklearn.decomposition import PCA

COMPONENTS = 10


class Clock:
    """Seconds by step: each call ends a step that began with the call before."""

    def __init__(self):
        self.steps = {}
        self.last = time.perf_counter()

    def __call__(self, step):
        now = time.perf_counter()
        self.steps[step] = self.steps.get(step, 0) + now - self.last
        self.last = now


def load(dataset, layer, head, kind, clock):
    table = pandas.read_parquet(dataset / f"l{layer:02d}h{head:02d}{kind}" / "data.parquet")
    clock("read")
    vectors = np.stack(table["vector"].values).astype(np.float32)
    clock("stack")
    return vectors, table["position"].values, table["example_id"].values


def analyze(q, k, solver, clock):
    """explained variance, r_q, r_k of each component, and the components."""
    pca = PCA(n_components=COMPONENTS, svd_solver=solver).fit(np.concatenate([q[0], k[0]]))
    clock("fit")
    sides = [pca.transform(vectors) for vectors, _ in (q, k)]
    clock("project")
    r_q, r_k = ([pearsonr(side[:, i], positions).statistic for i in range(COMPONENTS)]
                for side, (_, positions) in zip(sides, (q, k)))
    clock("correlate")
    return np.array([pca.explained_variance_ratio_, r_q, r_k]), pca.components_


def standard_errors(q, k, groups, solver, whole, clock):
    """Delete-one-group jackknife, components turned like the whole sample's."""
    documents = np.unique(np.concatenate([q[2], k[2]]))
    samples = []
    for part in np.array_split(documents, min(groups, len(documents))):
        sides = [(vectors[keep], positions[keep]) for vectors, positions, ids in (q, k)
                 for keep in [~np.isin(ids, part)]]
        clock("leave out")
        numbers, components = analyze(*sides, solver, clock)
        turn = np.where(np.sum(components * whole, axis=1) < 0, -1, 1)
        samples.append(numbers * [np.ones(COMPONENTS), turn, turn])
    count = len(samples)
    return np.sqrt((count - 1) / count * np.sum((samples - np.mean(samples, axis=0)) ** 2, axis=0))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("dataset", type=pathlib.Path)
    p.add_argument("--share", type=int, required=True, help="query heads per key head")
    p.add_argument("--heads", type=int, help="as many heads, evenly spread; default: all")
    p.add_argument("--groups", type=int, default=0, help="document groups of the jackknife")
    p.add_argument("--solver", default="auto", help="scikit-learn's svd_solver")
    a = p.parse_args()
    names = sorted(folder.name for folder in a.dataset.glob("l*q"))
    if a.heads:
        names = [names[i * len(names) // a.heads] for i in range(a.heads)]
    found = []
    clock = Clock()
    for name in names:
        layer, head = (int(number) for number in name[1:-1].split("h"))
        q = load(a.dataset, layer, head, "q", clock)
        k = load(a.dataset, layer, head // a.share, "k", clock)
        numbers, components = analyze(q[:2], k[:2], a.solver, clock)
        errors = standard_errors(q, k, a.groups, a.solver, components, clock) if a.groups else None
        found.append({"layer": layer, "head": head, "numbers": numbers.tolist(),
                      "errors": errors if errors is None else errors.tolist()})
    start = time.perf_counter() - START - sum(clock.steps.values())
    print(json.dumps({"start": start, "steps": clock.steps, "heads": found}))


if __name__ == "__main__":
    main()
