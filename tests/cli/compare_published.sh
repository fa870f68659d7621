#!/usr/bin/env bash
# The published tables against studies whose depth bins were made to have the published means within
# 0.003 (tests/data/analysis/figures): they agree, shifted ones do not, and what cannot be compared
# is said.
. "$(dirname "$0")/lib.bash"
published=$tests/../studies/published

for kind in models training; do
    expect 0 "$QKSCOPE" analyze "$data/figures/${kind}_synthetic/qk.csv" \
        --study "$data/figures/${kind}_synthetic/study.csv" --out "$kind/tables"
done

verdict() { # run table cells agreeing verdict
    expect 0 "$QKSCOPE" compare "$1" "$2"
    equal "$(wc -l <stdout.txt)" $(($3 + 1))
    equal "$(grep -c ',agrees$' stdout.txt)" "$4"
    says "$3 cells compared"
    says "verdict: $5 ($4 of $3 cells agree"
}

# --- by depth: labels for models, revisions for checkpoints. No standard errors in a bare qk table.
verdict models "$published/crossmodel_rq.csv" 110 110 agrees
verdict models "$published/crossmodel_rk.csv" 110 110 agrees
verdict training "$published/smollm3_rq.csv" 100 100 agrees
verdict training "$published/smollm3_rk.csv" 100 100 agrees
says "100 cells have no standard error; they agree if |difference| <= 0.02"
verdict training/tables "$published/smollm3_rk.csv" 100 100 agrees
grep -q '^"LC2-20K",0.9,' stdout.txt || fail "the last checkpoint is not there"

# --- quantities: the synthetic heads have the published means, not the published classes
verdict training "$published/smollm3_trajectory.csv" 47 41 differs
if grep ',differs$' stdout.txt | grep -E ',(mean_|position_)'; then fail "a mean differs"; fi
verdict models "$published/crossmodel_summary.csv" 21 16 differs
grep -q '^"all models",ev_pc0,0.341,0.341,' stdout.txt || fail "no mean over all models"

# --- r_q is not r_k, whatever the file is called
cp "$published/crossmodel_rk.csv" table.csv
expect 2 "$QKSCOPE" compare models table.csv
one_line
says "--quantity r_q or --quantity r_k"
expect 0 "$QKSCOPE" compare models table.csv --quantity r_k
says "verdict: agrees"
expect 0 "$QKSCOPE" compare models table.csv --quantity r_q
says "verdict: differs"
expect 2 "$QKSCOPE" compare models table.csv --quantity r_v
one_line

# --- a shifted table
awk -F, -v OFS=, 'NR > 1 { for (i = 2; i <= NF; i++) $i += 0.03 } 1' \
    "$published/smollm3_rq.csv" >shifted_rq.csv
cp "$published/smollm3_trajectory.csv" . # tells which label a revision has
verdict training shifted_rq.csv 100 0 differs
says "0% within 0.02"

# --- with jackknife errors: z counts the rounding in, and a manifest names the revisions
mkdir -p run/tables
expect 0 "$QKSCOPE" sql training "COPY (SELECT \"order\", 'A' AS model, phase, n_heads, mean_r_q,
    sd_r_q, mean_r_k, sd_r_k FROM trajectory WHERE model = 'S1-40K') TO 'run/tables/trajectory.csv'"
expect 0 "$QKSCOPE" sql training "COPY (SELECT 'A' AS model, bin, label, n_heads,
    0.5 + bin / 100 AS r_q, r_k, 0.01 AS se_r_q, 0.01 AS se_r_k FROM depth
    WHERE model = 'S1-40K') TO 'run/tables/depth.csv'"
echo 'checkpoint,0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9' >one_rq.csv
echo 'step-7,0.50,0.50,0.50,0.50,,,,,,' >>one_rq.csv
expect 1 "$QKSCOPE" compare run one_rq.csv
one_line
says "no row in common (here 'A', there 'step-7')"
for model in '"checkpoint": "org/name@step-7"' '"checkpoint": "org/name", "revision": "step-7"'; do
    echo "{\"models\": [{\"label\": \"A\", $model}]}" >run/manifest.json
    verdict run one_rq.csv 4 3 differs
    verdict run/tables one_rq.csv 4 3 differs
done
# 0.03 / sqrt(0.01^2 + 0.005^2 / 3)
grep -q '^"A",0.3,0.53,0.5,0.03,0.01,2.88231,differs$' stdout.txt || fail "z: $out"
grep -q '^"A",0.1,0.51,0.5,0.01,0.01,0.960769,agrees$' stdout.txt || fail "z: $out"
says "75% of 4 cells with a jackknife error are within 2 of it"
echo '{' >run/manifest.json
expect 1 "$QKSCOPE" compare run one_rq.csv
one_line
says "manifest.json"

# --- as files and as JSON
expect 0 "$QKSCOPE" compare training "$published/smollm3_rq.csv" --json --out new/folder
python3 - <<'END' || fail "JSON"
import json
c = json.load(open("stdout.txt"))
assert len(c["cells"]) == c["summary"]["cells"] == 100 and c["summary"]["verdict"] == "agrees"
assert c["cells"][0]["row"] == "S1-40K" and c["cells"][0]["z"] is None
assert c["summary"]["max_difference"] == max(abs(x["difference"]) for x in c["cells"]) <= 0.0031
END
equal "$(sql new/folder "SELECT count(*), count(DISTINCT \"row\") FROM compare" | tail -n 1)" "100,10"
[ -s new/folder/compare.parquet ] || fail "no Parquet"

# --- as a figure: every difference printed on its cell, row by row
equal "$(cd new/folder/figure && echo *)" \
    "README.md data.csv figure.gp figure.pdf figure.png figure.svg"
python3 - <<'END' || fail "the figure"
import csv, re
svg = open("new/folder/figure/figure.svg", encoding="utf-8").read()
printed = re.findall(r"<text>([+\u2212]?\d\.\d{3})</text>", svg)
rows = list(csv.DictReader(open("new/folder/compare.csv")))
assert len(printed) == len(rows) == 100, len(printed)
for shown, row in zip(printed, rows):
    difference = float(row["difference"])
    assert abs(float(shown.replace("\u2212", "-")) - difference) <= 0.0005 + 1e-9, (shown, row)
END
grep -q "the run agrees with the published table: 100 of 100 cells agree" new/folder/figure/README.md ||
    fail "the figure's explanation"
expect 0 "$QKSCOPE" compare models "$published/crossmodel_summary.csv" --out summary
grep -q ">fraction_mixed</text>" summary/figure/figure.svg || fail "quantities are no rows"
mkdir bare
expect 3 env PATH="$PWD/bare" "$QKSCOPE" compare models "$published/crossmodel_rq.csv" --out undrawn
says "the figure is not drawn: gnuplot is not on the PATH"
says "verdict: agrees"
for file in compare.csv figure/figure.gp figure/data.csv figure/README.md; do
    [ -s "undrawn/$file" ] || fail "no $file without gnuplot"
done

# --- what cannot be compared
expect 1 "$QKSCOPE" compare models "$published/smollm3_rq.csv"
one_line
says "no row in common (here 'qwen3-0.6b', there 'stage1-step-40000')"
expect 1 "$QKSCOPE" compare models "$data/figures/models_synthetic/study.csv"
one_line
says "is no table to compare with"
expect 1 "$QKSCOPE" compare models "$published/none.csv"
one_line
expect 1 "$QKSCOPE" compare "$published" "$published/smollm3_rq.csv"
one_line
says "no table 'trajectory'"
expect 1 "$QKSCOPE" compare nowhere "$published/smollm3_rq.csv"
one_line

# --- the studies that ship: nothing is wrong with them but that text or checkpoints are not here
echo '{"id": 1, "text": "some words to read"}' >text.jsonl
for study in smollm3-training models; do
    sed 's/longbench.parquet, /text.jsonl, /' "$tests/../studies/$study.yaml" >"$study.yaml"
    expect 2 env HF_HOME="$PWD/empty" "$QKSCOPE" check "$study.yaml"
    one_line
    says "models cannot be run"
    grep -o 'hf download [A-Za-z].*' stdout.txt | sort >needed.txt
    sed -n 's/^#   \(hf download [A-Z m].*\)/\1/p' "$study.yaml" | sort >named.txt
    equal "$(comm -23 needed.txt named.txt)" ""
    [ "$(wc -l <needed.txt)" -ge 10 ] || fail "$study: $out"
done
