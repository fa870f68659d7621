#!/usr/bin/env bash
# The page: what goes in, what is refused, and the page itself in a real Chromium.
. "$(dirname "$0")/lib.bash"
study=$data/figures/training_synthetic

# Layers 3, 7, ... have no RoPE, as in SmolLM3; a bare qk table does not say.
without_rope() { # tables
    sql "$1" "COPY (SELECT * REPLACE (CASE WHEN layer % 4 = 3 THEN 0 ELSE 1 END AS rope) FROM heads)
              TO 'heads.parquet'" >/dev/null
    mv heads.parquet "$1/heads.parquet"
}

add_figure() { # run
    mkdir -p "$1/figures/07-position_signal" "$1/figures/08-without-svg"
    cat >"$1/figures/07-position_signal/figure.svg" <<'SVG'
<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><script>window.owned=3</script>
<image href="http://127.0.0.1:9/x.png" onerror="alert(3)"/><rect width="300" height="200" fill="#3b82f6"/></svg>
SVG
    cat >"$1/figures/07-position_signal/README.md" <<'MARKDOWN'
# Figure 7: position_signal

![position_signal](figure.png)

## What it shows

Mean r_q. <script>window.owned=4</script> [a link](javascript:alert(4))

## Key takeaway

- mean r_q rises from 0.67 to 0.81: \*not italics\*, <b>not bold</b>.
MARKDOWN
}

# --- a run
expect 0 "$QKSCOPE" analyze "$study/qk.csv" --study "$study/study.csv" --out run/tables
without_rope run/tables
add_figure run
cat >run/manifest.json <<'JSON'
{"program": "qkscope", "version": "0.1.0", "study": {"name": "smollm3-training", "kind": "training"},
 "text": {"path": "longbench.parquet", "documents": 500, "tokens": 62914560},
 "capture": {"heads": 300, "seed": 0}, "threads": 2,
 "models": [{"label": "S1-40K", "status": "done", "context": 4096, "rope_theta": 50000.0, "tokens": 1000},
            {"label": "LC3", "status": "failed", "reason": "out of memory"}]}
JSON
expect 0 "$QKSCOPE" report run
says "3000 heads of 10 models"
says "1 figure; the page is run/report.html"
equal "$out" ""
[ "$(stat -c %s run/report.html)" -lt 5000000 ] || fail "the page is larger than 5 MB"
expect 0 "$QKSCOPE" report run --out again.html
same run/report.html again.html

# --- the eleven models: small and quick
models=$data/figures/models_synthetic
expect 0 "$QKSCOPE" analyze "$models/qk.csv" --study "$models/study.csv" --out models
started=$(date +%s%N)
expect 0 "$QKSCOPE" report models
echo "eleven models: $((($(date +%s%N) - started) / 1000000)) ms, $(stat -c %s models/report.html) bytes"
says "3239 heads of 11 models"
[ "$(stat -c %s models/report.html)" -lt 5000000 ] || fail "the page is larger than 5 MB"

# --- one model with error bars, drift plane and plasticity; a folder of CSV tables only
expect 0 "$QKSCOPE" analyze "$data/dataset" --groups document --context 1024 --out one
rm one/*.parquet
expect 0 "$QKSCOPE" report one

# --- names that try to break out
python3 - "$study/qk.csv" "$study/study.csv" <<'EOF'
import csv, sys
names = {"S1-40K": '</script><img src=x onerror="window.owned=1">',
         "S1-1.2M": 'it\'s "quoted",\n=2+2 `x` {b|y} \u2028 end',
         "S1-2.4M": "<b>bold</b> &lt; '" + "x" * 300, "S1-3.4M": "__proto__"}
for path, out in zip(sys.argv[1:], ("odd.csv", "odd-study.csv")):
    with open(path, newline="") as file, open(out, "w", newline="", encoding="utf-8") as copy:
        rows = csv.DictReader(file)
        writer = csv.DictWriter(copy, rows.fieldnames)
        writer.writeheader()
        for row in rows:
            if row["model"] in names:
                row["model"] = names[row["model"]]
                if "phase" in row:
                    row["phase"] = "=family" if row["model"].startswith("it") else "<i>phase</i>"
                writer.writerow(row)
EOF
expect 0 "$QKSCOPE" analyze odd.csv --study odd-study.csv --out odd/tables
add_figure odd
mv odd/figures/07-position_signal "odd/figures/07-<img src=x onerror=alert(5)>\"'"
printf '{"study": {"name": "%s"}, "text": 3, "models": {"a": [1]}}' \
    '<!--<script>window.owned=2</script>' >odd/manifest.json
expect 0 "$QKSCOPE" report odd
if grep -qF '<img src=x' odd/report.html; then fail "a name is markup"; fi

# --- refused
: >file
expect 1 "$QKSCOPE" report nowhere
one_line
says "there is no folder 'nowhere'"
expect 1 "$QKSCOPE" report "$study/qk.csv"
one_line
says "qkscope analyze"
mkdir empty
expect 1 "$QKSCOPE" report empty
one_line
says "no table qk"
expect 2 "$QKSCOPE" report
expect 2 "$QKSCOPE" report run more
expect 1 "$QKSCOPE" report run --out file/below
one_line
says "file/below"
cp -r models mixed
cp one/depth.csv mixed
rm mixed/depth.parquet
expect 1 "$QKSCOPE" report mixed
one_line
says "not of one run"
cp -r run/tables half
sql half "COPY (FROM depth WHERE bin < 9) TO 'depth.parquet'" >/dev/null
mv depth.parquet half
expect 1 "$QKSCOPE" report half
says "table depth counts"
cp -r run broken
echo '{"study": ' >broken/manifest.json
expect 1 "$QKSCOPE" report broken
one_line
says "manifest.json', line"
# a full disk: the old page stays, and nothing half-written
cp run/report.html before.html
limited() {
    (ulimit -f 400 && "$QKSCOPE" report run)
}
expect 1 limited
one_line
says "run/report.html"
same run/report.html before.html
equal "$(ls -A run)" $'figures\nmanifest.json\nreport.html\ntables'

# --- --open starts the first browser of the list that there is, without a shell
cat >browser <<'SH'
#!/bin/sh
printf '%s|' "$#" "$1" >opened
SH
chmod +x browser
# shellcheck disable=SC2016 # it is not to expand
odd='-odd $(touch owned) dir'
mkdir -- "$odd"
expect 0 env BROWSER="no-such-browser:$PWD/browser" "$QKSCOPE" report run --open \
    --out "$odd/page.html"
for _ in $(seq 50); do
    if [ -s opened ]; then break; fi
    sleep 0.1
done
equal "$(cat opened)" "1|$PWD/$odd/page.html|"
[ ! -e owned ] || fail "a shell saw the name"
expect 3 env BROWSER=no-such-browser "$QKSCOPE" report run --open
says "the page is in 'run/report.html', but no browser starts"

# --- in the browser
if ! chromium=$(command -v chromium); then
    echo "no chromium here: the page was not tried in a browser"
    exit 77
fi
mkdir downloads
node "$tests/report/page_test.mjs" "$chromium" run/report.html odd/report.html one/report.html \
    "$PWD/downloads"
