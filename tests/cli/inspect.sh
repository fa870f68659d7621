#!/usr/bin/env bash
# inspect says what each kind of file is; sql answers in each format.
. "$(dirname "$0")/lib.bash"

# What inspect --json printed under these names, with slashes between.
facts() { # name...
    python3 -c 'import json, sys
found = json.load(open("stdout.txt"))
print("/".join(str(found[name]) for name in sys.argv[1:]))' "$@"
}

# --- a captured dataset, also found below a prefix folder
mkdir -p prefix
cp -r "$data/dataset" prefix/
for path in "$data/dataset" prefix; do
    expect 0 "$QKSCOPE" inspect "$path" --json
    equal "$(facts kind model layers "query heads" "key heads")" "captured dataset/toy-3x4/3/4/2"
    equal "$(facts "captured query heads" "captured key heads" queries keys)" 12/6/7948/4020
    equal "$(facts dimension documents "last position" buckets)" 16/6/1023/16
done
expect 0 "$QKSCOPE" inspect "$data/dataset"
[[ $out == *"kind                   captured dataset"* ]] || fail "$out"

# --- a unit file; damage anywhere is found
expect 0 "$QKSCOPE" merge "$data/dataset" --groups 4 --plasticity 16 --out u.unit
expect 0 "$QKSCOPE" inspect u.unit --json
equal "$(facts kind "query heads kept" "key heads kept")" "unit file/12/6"
equal "$(facts "document groups" documents "key pairs per bucket")" 4/6/16
size=$(stat -c %s u.unit)
for at in 3 9 100 $((size / 2)) $((size - 1)); do
    cp u.unit damaged.unit
    printf '\xaa' | dd of=damaged.unit bs=1 seek="$at" conv=notrunc status=none
    if cmp -s u.unit damaged.unit; then continue; fi
    expect 1 "$QKSCOPE" inspect damaged.unit
    one_line
    says damaged.unit
    equal "$out" ""
done

# --- a folder as capture leaves it: unit files, damage found there, too
mkdir -p captured/units
cp u.unit captured/units/group-0000.unit
expect 0 "$QKSCOPE" inspect captured --json
equal "$(facts kind model "query heads kept" "document groups" documents)" \
    "captured moments/toy-3x4/12/4/6"
printf '\xaa' | dd of=captured/units/group-0000.unit bs=1 seek=$((size / 2)) conv=notrunc status=none
expect 1 "$QKSCOPE" inspect captured
says group-0000.unit

# --- tables
expect 0 "$QKSCOPE" inspect "$data/expected/qk.csv" --json
equal "$(facts kind rows)" table/120
expect 0 "$QKSCOPE" analyze u.unit --out tables
expect 0 "$QKSCOPE" inspect tables/heads.parquet --json
equal "$(facts kind rows)" table/12
expect 0 "$QKSCOPE" inspect tables
[[ $out == *"kind                   tables"*'"heads": 12'* ]] || fail "$out"

# --- a run, by its manifest
mkdir -p run
cp -r tables run/
cat >run/manifest.json <<'JSON'
{"version": "0.1.0", "study": {"name": "toy", "kind": "training"}, "text": {"documents": 6},
 "models": [{"label": "a", "status": "done", "units": 2, "units_done": 2},
            {"label": "b", "status": "failed", "units": 2, "units_done": 1}]}
JSON
expect 0 "$QKSCOPE" inspect run --json
equal "$(facts kind study "study kind" models units "units done" "models failed" documents)" \
    "run/toy/training/2/4/3/['b']/6"
printf '{' >run/manifest.json
expect 1 "$QKSCOPE" inspect run
says manifest.json

# --- a tokenizer
expect 0 "$QKSCOPE" inspect "$tests/../demo/tokenizer.json" --json
equal "$(facts kind ids)" tokenizer/1024

# --- something else
printf 'hello' >hello.txt
expect 1 "$QKSCOPE" inspect hello.txt
says "nothing qkscope knows"
mkdir -p empty
expect 1 "$QKSCOPE" inspect empty
says "no folder that qkscope knows"
printf 'hello' >hello.parquet
expect 1 "$QKSCOPE" inspect hello.parquet
one_line

# --- sql: views of the folder's tables, or of its tables folder
query="SELECT layer, class, NULL AS nothing FROM heads WHERE head = 0 ORDER BY layer LIMIT 2"
expect 0 "$QKSCOPE" sql tables "$query" --csv
equal "$out" $'layer,class,nothing\n0,position-dominated,\n1,mixed,'
expect 0 "$QKSCOPE" sql . "$query" # no terminal: CSV
equal "$out" $'layer,class,nothing\n0,position-dominated,\n1,mixed,'
expect 0 "$QKSCOPE" sql . "$query" --json
python3 - stdout.txt <<'EOF' || fail "sql --json printed $out"
import json, sys
rows = json.load(open(sys.argv[1]))
sys.exit(rows != [{"layer": 0, "class": "position-dominated", "nothing": None},
                  {"layer": 1, "class": "mixed", "nothing": None}])
EOF
expect 1 "$QKSCOPE" sql tables "SELEC 1"
says "SELEC"
expect 1 "$QKSCOPE" sql tables "SELECT nothing FROM heads"
says "nothing"
expect 1 "$QKSCOPE" sql tables "FROM headz"
says 'Did you mean "heads"?'
one_line
