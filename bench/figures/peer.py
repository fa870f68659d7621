#!/usr/bin/env python3
"""The figures of a study of models by pandas and matplotlib, once each, to PNG: peer.py TABLES OUT

The same content and pixels as qkscope's (spec: figures 1 to 6): bars, scatter, heatmaps with numbers,
a collage. Written the usual way; no figure is skimped."""
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

BLUE, RED, PURPLE = "#3b82f6", "#ef4444", "#8b5cf6"
DPI = 192


def save(figure, out, name):
    figure.savefig(out / f"{name}.png", dpi=DPI)
    plt.close(figure)


def pc_roles(qk, out):
    means = qk.groupby("pc")[["r_q", "r_k"]].mean()
    figure, axes = plt.subplots(figsize=(10.5, 4.7), layout="constrained")
    for shift, column, colour in ((-0.2, "r_q", BLUE), (0.2, "r_k", RED)):
        bars = axes.bar(means.index + shift, means[column], 0.38, color=colour, label=f"mean {column}")
        axes.bar_label(bars, fmt="%.2f", fontsize=7.5)
    axes.set_xticks(means.index, [f"PC{pc}" for pc in means.index])
    axes.set_ylabel("mean correlation with position")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    save(figure, out, "pc_roles")


def scatter(qk, families, out):
    first = qk[qk["pc"] == 0]
    figure, axes = plt.subplots(figsize=(7.5, 6.7), layout="constrained")
    for number, (family, heads) in enumerate(first.groupby(first["model"].map(families), sort=False)):
        axes.scatter(heads["r_q"], heads["r_k"], s=10, alpha=0.6, color=f"C{number}", label=family,
                     linewidths=0)
    for at in (0.3, 0.7):
        axes.axvline(at, ls="--", lw=0.8, color="grey")
        axes.axhline(at, ls="--", lw=0.8, color="grey")
        axes.axhline(-at, ls="--", lw=0.8, color="grey")
    axes.axhline(0, lw=0.8, color="grey")
    axes.set(xlim=(-0.05, 1.05), ylim=(-1.05, 1.05), xlabel="r_q", ylabel="r_k")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    save(figure, out, "rq_rk_scatter")


def heatmap(depth, column, colours, out):
    cells = depth.pivot(index="model", columns="label", values=column)
    cells = cells.loc[depth["model"].unique()]
    figure, axes = plt.subplots(figsize=(8.6, 5.0), layout="constrained")
    image = axes.imshow(cells, cmap=colours, vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(cells.shape[1]), cells.columns)
    axes.set_yticks(range(cells.shape[0]), cells.index)
    for (row, column_number), value in np.ndenumerate(cells.to_numpy()):
        if not np.isnan(value):
            axes.text(column_number, row, f"{value:.2f}", ha="center", va="center", fontsize=9,
                      color="white" if value > 0.55 else "black")
    axes.set_xlabel("depth")
    figure.colorbar(image, label=f"mean {column}")
    save(figure, out, f"layer_heatmap_{column}")


def explained_variance(qk, out):
    means = 100 * qk.groupby("pc")["explained_variance"].mean()
    figure, axes = plt.subplots(figsize=(8.9, 4.7), layout="constrained")
    bars = axes.bar(means.index, means, 0.7, color=PURPLE)
    axes.bar_label(bars, fmt="%.1f%%", fontsize=9)
    axes.set_xticks(means.index, [f"PC{pc}" for pc in means.index])
    axes.set_ylabel("mean explained variance")
    save(figure, out, "explained_variance")


def collage(points, qk, out):
    figure, grid = plt.subplots(2, 2, figsize=(9.4, 9.9), layout="constrained")
    for axes, (key, head) in zip(grid.flat, points.groupby(["model", "layer", "head"], sort=False)):
        for side, colours in (("k", "Reds"), ("q", "Blues")):
            some = head[head["side"] == side]
            drawn = axes.scatter(some["pc0"], some["pc1"], c=some["position"], cmap=colours, s=6,
                                 alpha=0.6, linewidths=0)
            if axes is grid[0, 1]:
                figure.colorbar(drawn, ax=grid[:, 1], label={"q": "queries", "k": "keys"}[side])
        rows = qk[(qk["model"] == key[0]) & (qk["layer"] == key[1]) & (qk["head"] == key[2])]
        text = "\n".join(f"PC{row.pc}: {100 * row.explained_variance:.1f}% of variance, "
                         f"r_q {row.r_q:.2f}, r_k {row.r_k:.2f}" for row in rows[:2].itertuples())
        axes.text(0.02, 0.98, text, transform=axes.transAxes, va="top", fontsize=8,
                  bbox={"facecolor": "white", "edgecolor": "lightgrey"})
        axes.set(title=f"{key[0]}, layer {key[1]}, head {key[2]}", xlabel="PC0", ylabel="PC1")
    save(figure, out, "collage")


def main():
    tables, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    qk = pd.read_csv(tables / "qk.csv")
    models = pd.read_csv(tables / "trajectory.csv")
    depth = pd.read_csv(tables / "depth.csv")
    pc_roles(qk, out)
    scatter(qk, models.set_index("model")["family"], out)
    heatmap(depth, "r_q", "Blues", out)
    heatmap(depth, "r_k", "Reds", out)
    explained_variance(qk, out)
    collage(pd.read_csv(tables / "collage.csv"), qk, out)


if __name__ == "__main__":
    main()
