#!/usr/bin/env bash
# inspect --export: moments as safetensors. What stands in the file is checked against what DuckDB
# computes from the vectors, document by document; numpy itself is tried by `make test-interop`.
. "$(dirname "$0")/lib.bash"

expect 0 "$QKSCOPE" inspect "$data/dataset" --groups document --export moments.safetensors
says "12 query and 6 key heads, 6 groups"
for head in l00h00q l02h01k; do
    sql . "SELECT example_id, count(*) AS n, avg(position) AS t, avg(vector[1]) AS x0,
        avg(vector[16]) AS x15, covar_pop(vector[1], position) * count(*) AS s0t,
        covar_pop(vector[1], vector[16]) * count(*) AS s015, var_pop(position) * count(*) AS stt
        FROM '$data/dataset/$head/data.parquet' GROUP BY ALL ORDER BY ALL" >$head.csv
done
python3 - <<'PYTHON' || fail "the exported moments"
import csv, json, struct
with open("moments.safetensors", "rb") as file:
    length, = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(length))
    data = file.read()
facts = header.pop("__metadata__")
assert facts["format"] == "qkscope moments 1" and facts["model"] == "toy-3x4", facts
assert (facts["layers"], facts["query_heads"], facts["key_heads"]) == ("3", "4", "2"), facts
assert all(isinstance(value, str) for value in facts.values())
assert (8 + length) % 8 == 0

# every byte belongs to one tensor
end = 0
for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
    begin, stop = entry["data_offsets"]
    count = 1
    for size in entry["shape"]:
        count *= size
    assert begin == end and stop - begin == 8 * count, name
    end = stop
assert end == len(data) and len(header) == 1 + 3 * 18

def tensor(name):
    entry = header[name]
    begin, stop = entry["data_offsets"]
    code = {"I64": "q", "F64": "d"}[entry["dtype"]]
    return entry["shape"], struct.unpack(f"<{(stop - begin) // 8}{code}", data[begin:stop])

def near(a, b):
    assert abs(a - b) <= 1e-9 * max(1, abs(b)), (a, b)

shape, groups = tensor("groups")
assert shape == [6, 3] and list(groups[0::3]) == sorted(groups[0::3]) and set(groups[1::3]) == {1}
for head in ("l00h00q", "l02h01k"):
    _, n = tensor(head + ".n")
    _, mean = tensor(head + ".mean")
    shape, scatter = tensor(head + ".scatter")
    assert shape == [6, 17, 17]
    for row in csv.DictReader(open(head + ".csv")):
        g = groups[0::3].index(int(row["example_id"]))
        m, s = mean[17 * g:17 * g + 17], scatter[289 * g:289 * g + 289]
        assert n[g] == int(row["n"])
        for actual, name in ((m[0], "x0"), (m[15], "x15"), (m[16], "t"), (s[16], "s0t"),
                             (s[15], "s015"), (s[16 * 17 + 16], "stt")):
            near(actual, float(row[name]))
        assert all(s[17 * i + j] == s[17 * j + i] for i in range(17) for j in range(17))
PYTHON

# --- the same from a unit file; groups as they are there
expect 0 "$QKSCOPE" merge "$data/dataset" --groups document --out u.unit
expect 0 "$QKSCOPE" inspect u.unit --export from-unit.safetensors
cmp moments.safetensors from-unit.safetensors || fail "dataset and unit file differ"

# --- refusals
expect 2 "$QKSCOPE" inspect u.unit --shape 1/2/3
says "--shape goes with --export"
expect 1 "$QKSCOPE" inspect "$data/expected/qk.csv" --export x.safetensors
one_line
expect 1 "$QKSCOPE" inspect u.unit --export none/x.safetensors
says "none"
[ ! -e x.safetensors ] || fail "a refusal left a file"
