"""What qkscope writes, read by the tools that its users have: a dataset of captured vectors, the
tables, the exported moments. The numbers are set against scikit-learn and numpy."""

import json
import os
import pathlib
import subprocess

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from safetensors.numpy import load_file
from sklearn.decomposition import PCA

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(os.environ["INTEROP_WORK"])
LAYERS, Q_HEADS, K_HEADS, D = (0, 3), 8, 2, 16
DOCUMENTS, TOKENS = 8, 256
COLUMNS = ["bucket", "example_id", "position", "vector", "sliding_window"]
# float32 vectors, float64 sums on both sides: only the order of summation differs.
TOLERANCE = 1e-8


def qkscope(*arguments):
    subprocess.run([os.environ["QKSCOPE"], *map(str, arguments)], check=True, capture_output=True)


@pytest.fixture(scope="session")
def captured():
    """Eight documents of the demo through two layers of one checkpoint, vectors and moments."""
    folder = WORK / "captured"
    lines = (ROOT / "demo/text.jsonl").read_text().splitlines()[:DOCUMENTS]
    (WORK / "text.jsonl").write_text("\n".join(lines) + "\n")
    qkscope("capture", ROOT / "demo/S1-600", "--text", WORK / "text.jsonl", "--tokenizer",
            ROOT / "demo/tokenizer.json", "--max-length", TOKENS, "--layers", "0,3", "--keep", "both",
            "--out", folder)
    return folder


@pytest.fixture(scope="session")
def tables(captured):
    qkscope("analyze", captured, "--out", WORK / "tables")
    return WORK / "tables"


def head_file(captured, layer, head, kind):
    return captured / f"l{layer:02}h{head:02}{kind}" / "data.parquet"


def side(captured, layer, head, kind):
    """Vectors [n, D] as float64, and positions [n]."""
    frame = pd.read_parquet(head_file(captured, layer, head, kind))
    return np.stack(frame["vector"]).astype(np.float64), frame["position"].to_numpy(np.float64)


# --- the dataset


def test_pandas_reads_a_head(captured):
    frame = pd.read_parquet(head_file(captured, 0, 0, "q"))
    assert list(frame.columns)[:5] == COLUMNS
    assert len(frame) == DOCUMENTS * TOKENS
    assert [str(frame[c].dtype) for c in COLUMNS[:3]] == ["int32"] * 3
    assert frame["vector"].map(len).eq(D).all()
    assert frame["vector"].iloc[0].dtype == np.float32
    assert frame["sliding_window"].isna().all()
    assert sorted(frame["position"].unique()) == list(range(TOKENS))


def test_polars_reads_a_head(captured):
    frame = pl.read_parquet(head_file(captured, 0, 0, "k"))
    assert frame.columns[:5] == COLUMNS
    assert frame.schema["vector"] == pl.List(pl.Float32)
    assert frame.height == DOCUMENTS * TOKENS
    every = pl.scan_parquet(captured / "*/data.parquet", include_file_paths="file").collect()
    assert every["file"].n_unique() == len(LAYERS) * (Q_HEADS + K_HEADS)


def test_duckdb_reads_all_heads(captured):
    rows = duckdb.sql(f"""
        SELECT filename AS head, count(*) AS n, max(len(vector)) AS d
        FROM read_parquet('{captured}/*/data.parquet', filename = true) GROUP BY head ORDER BY head
    """).fetchall()
    assert len(rows) == len(LAYERS) * (Q_HEADS + K_HEADS)
    assert all(n == DOCUMENTS * TOKENS and d == D for _, n, d in rows)


def test_hugging_face_datasets_read_it(captured):
    one = datasets.load_dataset(str(captured), data_files="l03h01q/data.parquet", split="train")
    assert one.num_rows == DOCUMENTS * TOKENS
    assert one.column_names[:5] == COLUMNS
    assert len(one[0]["vector"]) == D and one[0]["sliding_window"] is None
    by_folder = datasets.load_dataset(str(captured), data_dir="l03h01q", split="train")
    assert by_folder[5] == one[5]
    vectors, _ = side(captured, 3, 1, "q")
    assert np.array_equal(np.asarray(one.with_format("numpy")["vector"][:]), vectors)


# --- the numbers


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("head", range(Q_HEADS))
def test_numbers_agree_with_scikit_learn(captured, tables, layer, head):
    q, t_q = side(captured, layer, head, "q")
    k, t_k = side(captured, layer, head // (Q_HEADS // K_HEADS), "k")
    pca = PCA(n_components=10, svd_solver="full").fit(np.concatenate([q, k]))
    ours = pd.read_csv(tables / "qk.csv")
    ours = ours[(ours.layer == layer) & (ours["head"] == head)].sort_values("pc")
    assert np.allclose(ours.explained_variance, pca.explained_variance_ratio_, rtol=0, atol=TOLERANCE)
    for axis, row in zip(pca.components_, ours.itertuples()):
        r_q = np.corrcoef(q @ axis, t_q)[0, 1]
        r_k = np.corrcoef(k @ axis, t_k)[0, 1]
        turn = np.sign(r_q if abs(r_q) >= 0.05 else r_k)
        assert row.r_q == pytest.approx(turn * r_q, abs=1e-6)
        assert row.r_k == pytest.approx(turn * r_k, abs=1e-6)


def test_exported_moments_are_numpys(captured):
    qkscope("inspect", captured, "--export", WORK / "moments.safetensors")
    m = load_file(WORK / "moments.safetensors")
    n, mean, scatter = (m["l03h05q." + part] for part in ("n", "mean", "scatter"))
    whole = np.average(mean, axis=0, weights=n)
    off = mean - whole
    covariance = (scatter.sum(0) + np.einsum("g,gi,gj->ij", n, off, off)) / n.sum()
    vectors, positions = side(captured, 3, 5, "q")
    z = np.column_stack([vectors, positions])
    assert n.sum() == len(z) and m["groups"][:, 1].sum() == DOCUMENTS
    assert np.allclose(whole, z.mean(0), rtol=1e-9, atol=1e-9)
    assert np.allclose(covariance, np.cov(z.T, bias=True), rtol=1e-7, atol=1e-7)


# --- the tables


def test_qk_has_the_published_columns_first(tables):
    published = "model,layer,head,k_head,pc,explained_variance,r_q,r_k".split(",")
    frame = pd.read_csv(tables / "qk.csv")
    assert list(frame.columns)[:8] == published
    assert len(frame) == len(LAYERS) * Q_HEADS * 10
    assert pd.read_parquet(tables / "qk.parquet")[published].equals(frame[published])
    assert pl.read_csv(tables / "qk.csv").columns == list(frame.columns)
    assert duckdb.sql(f"FROM '{tables}/qk.csv'").columns == list(frame.columns)


def test_depth_table_turns_into_a_published_heatmap(tables):
    """The published heatmaps have a row per model and columns 0.0 to 0.9: a pivot away."""
    published = pd.read_csv(ROOT / "studies/published/crossmodel_rq.csv")
    depth = pd.read_csv(tables / "depth.csv", dtype={"label": str})
    wide = depth.pivot(index="model", columns="bin", values="r_q")
    wide.columns = [f"{b / 10:.1f}" for b in wide.columns]
    assert list(wide.reset_index().columns) == list(published.columns)


def test_facts_for_programs_are_json(captured):
    facts = json.loads(subprocess.run([os.environ["QKSCOPE"], "inspect", captured, "--json"],
                                      check=True, capture_output=True).stdout)
    assert facts["kind"] == "captured dataset" and facts["queries"] == 2 * Q_HEADS * DOCUMENTS * TOKENS
