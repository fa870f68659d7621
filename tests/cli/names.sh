#!/usr/bin/env bash
# Names from strangers: whatever a model is called, its name comes back as it was, no cell of a CSV
# starts as a spreadsheet formula would, and a decimal-comma locale changes no byte.
. "$(dirname "$0")/lib.bash"

# A small dataset: two query heads, one key head, two documents.
for head in l00h00q l00h01q l00h00k; do
    head_file small $head "SELECT 0 AS bucket, e::INT AS example_id, p::INT AS position,
        [p + sin(p * hash('$head') % 10), cos(p + e), sin(3 * p)]::FLOAT[3] AS vector
        FROM range(8) p(p), range(2) e(e)"
done

long=$(printf 'x%.0s' {1..300})
names=("=HYPERLINK(\"http://example.org\"), 'a' and \`b\`" $'-1+2\nline two\r\n\ta tab '
    "@</script><script>alert(1)</script>; a,b" "'+kept" "../../Grüße, 世界 🌍" "$long")
for name in "${names[@]}"; do
    rm -rf out again
    expect 0 "$QKSCOPE" analyze small --shape 1/2/1 "--model=$name" --out out
    NAME=$name python3 - out/*.csv <<'EOF' || fail "'$name' did not come through"
import csv, os, sys
name = os.environ["NAME"]
named = 0
def number(cell):
    try:
        return float(cell) is not None
    except ValueError:
        return False
for path in sys.argv[1:]:
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for column, cell in row.items():
            if cell[:1] in ("=", "+", "-", "@") and not number(cell):
                sys.exit(f"{path}: {column} begins as a formula: {cell!r}")
        if "model" in row:
            guarded = name.lstrip("'")[:1] in ("=", "+", "-", "@")
            if row["model"] != ("'" + name if guarded else name):
                sys.exit(f"{path}: {row['model']!r}")
            named += 1
sys.exit(named == 0)
EOF
    equal "$("$QKSCOPE" sql out "SELECT DISTINCT model FROM qk" --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["model"], end=".")')" "$name."
    # the table is read back as it was written
    expect 0 "$QKSCOPE" analyze out/qk.csv --shape 1/2/1 --out again
    same out/qk.csv again/qk.csv
    same out/qk.parquet again/qk.parquet
done

expect 1 "$QKSCOPE" analyze small --shape 1/2/1 --model $'not UTF-8: \xff' --out bad
says "not UTF-8"
[ ! -e bad/qk.csv ] || fail "a name that is not UTF-8 left a table"

# --- a unit file keeps the name too
expect 0 "$QKSCOPE" merge small --shape 1/2/1 "--model=${names[1]}" --out odd.unit
equal "$("$QKSCOPE" inspect odd.unit --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["model"], end=".")')" "${names[1]}."

# --- file names with quotes and spaces
odd=$'it\'s "a" folder'
cp -r small "$odd"
expect 0 "$QKSCOPE" analyze "$odd" --shape 1/2/1 --out "out of $odd"
equal "$(sql "out of $odd" "SELECT count(*) AS n FROM heads")" $'n\n2'
expect 0 "$QKSCOPE" merge "$odd" --shape 1/2/1 --out "$odd.unit"
expect 0 "$QKSCOPE" analyze "$odd.unit" --out "unit of $odd"

# --- a decimal comma
if localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" 2>/dev/null; then
    export LOCPATH=$PWD
    equal "$(LC_ALL=de_DE.UTF-8 locale decimal_point)" ","
    expect 0 "$QKSCOPE" analyze small --shape 1/2/1 --out plain
    expect 0 env LC_ALL=de_DE.UTF-8 "$QKSCOPE" analyze small --shape 1/2/1 --out comma
    same plain comma
    expect 0 env LC_ALL=de_DE.UTF-8 "$QKSCOPE" analyze plain/qk.csv --shape 1/2/1 --out comma-table
    same plain/qk.csv comma-table/qk.csv
else
    echo "no locale definitions here: the decimal comma was not tried"
fi
