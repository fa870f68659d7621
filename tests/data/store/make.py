"""Makes the Parquet files here that DuckDB itself cannot write. Needs pyarrow; run it in this folder.

Every file has 5 rows: vector[j] = row + j / 4, position 10 * row, bucket row // 2, example_id
1000 + row, a window of 4 in odd rows; in other types and another column order than usual."""
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS, D = 5, 3
values = np.add.outer(np.arange(ROWS), np.arange(D) / 4)


def vectors(element, lists):
    flat = pa.array(values.ravel().astype(element))
    if lists == "fixed":
        return pa.FixedSizeListArray.from_arrays(flat, D)
    kind = pa.LargeListArray if lists == "large" else pa.ListArray
    offsets = pa.array(np.arange(0, ROWS * D + 1, D), pa.int64() if lists == "large" else pa.int32())
    return kind.from_arrays(offsets, flat)


def write(folder, element, lists, integer):
    table = pa.table(
        {
            "token_str": pa.array(["a", None, "\u00e9", "", "b"]),
            "sliding_window": pa.array([4 if i % 2 else None for i in range(ROWS)], integer),
            "vector": vectors(element, lists),
            "position": pa.array([10 * i for i in range(ROWS)], integer),
            "extra": pa.array([[1, 2]] * ROWS),
            "bucket": pa.array([i // 2 for i in range(ROWS)], integer),
            "example_id": pa.array([1000 + i for i in range(ROWS)], integer),
        }
    )
    os.makedirs(f"{folder}/l00h00q", exist_ok=True)
    pq.write_table(table, f"{folder}/l00h00q/data.parquet", compression="zstd")


write("types/half", np.float16, "fixed", pa.int16())
write("types/single", np.float32, "list", pa.uint32())
write("types/double", np.float64, "large", pa.int64())
