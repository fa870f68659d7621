#!/usr/bin/env bash
# Figures through the program: both full-size studies in all formats, small and hostile ones, and what
# happens without gnuplot.
. "$(dirname "$0")/lib.bash"
training=$data/figures/training_synthetic
models=$data/figures/models_synthetic

# Every figure of a folder is whole: headers, ends, XML that parses and has no script in it.
check_figures() { # folder count
    python3 - "$1" "$2" <<'EOF' || fail "figures in $1"
import pathlib, struct, sys, xml.dom.minidom
folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
figures = sorted(folder.iterdir())
assert len(figures) == count, [f.name for f in figures]
for figure in figures:
    assert sorted(f.name for f in figure.iterdir()) == [
        "README.md", "data.csv", "figure.gp", "figure.pdf", "figure.png", "figure.svg"], figure
    png = (figure / "figure.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and png[-8:-4] == b"IEND", figure
    svg = xml.dom.minidom.parse(str(figure / "figure.svg")).documentElement
    assert svg.tagName == "svg" and not svg.getElementsByTagName("script"), figure
    assert len(svg.getElementsByTagName("text")) > 5, figure
    # twice as many pixels as the drawing has units
    width, height = struct.unpack(">II", png[16:24])
    assert [2 * int(x) for x in svg.getAttribute("viewBox").split()[2:]] == [width, height], figure
    pdf = (figure / "figure.pdf").read_bytes()
    assert pdf[:5] == b"%PDF-" and b"%%EOF" in pdf[-16:], figure
    readme = (figure / "README.md").read_text()
    for title in ("## What it shows", "## How it was produced", "## Key takeaway"):
        assert title in readme, figure
    assert "no finding about this figure" not in readme, figure
EOF
}

# --- a training study from a run's directory, with a manifest
expect 0 "$QKSCOPE" analyze "$training/qk.csv" --study "$training/study.csv" --out run/tables
cat >run/manifest.json <<'JSON'
{"program": "qkscope", "version": "0.1.0", "study": {"name": "smollm3-training", "kind": "training"},
 "text": {"path": "longbench.parquet", "documents": 500, "tokens": 62914560},
 "capture": {"heads": 300, "seed": 0, "sampler": "all"}}
JSON
expect 0 "$QKSCOPE" figures run
says "8 figures drawn in run/figures"
check_figures run/figures 8
grep -q "longbench.parquet, 500 documents, 62,914,560 tokens" run/figures/07-*/README.md ||
    fail "the manifest is not told"
grep -q "heads 300, seed 0, sampler all" run/figures/07-*/README.md || fail "settings are not told"
grep -q "Mean r_q rises from 0.67 at S1-40K to 0.81 at S1-1.2M: +0.14" run/figures/07-*/README.md ||
    fail "the takeaway is missing"

# --- a study of models; the collage is left out, and that is said
expect 0 "$QKSCOPE" analyze "$models/qk.csv" --study "$models/study.csv" --out tables
expect 0 "$QKSCOPE" figures tables --out figures
says "figure 6, collage, is left out"
check_figures figures 5

# --- straight from a qk table: the same drawings
# on a machine that has set no locale, too
expect 0 env -u LANG LC_ALL=C \
    "$QKSCOPE" figures "$models/qk.csv" --study "$models/study.csv" --out bare --format svg
for figure in figures/*/; do same "$figure/figure.svg" "bare/$(basename "$figure")/figure.svg"; done

# --- a user can redraw, and keeps files of his own
cp figures/05-explained_variance/figure.svg before.svg
(cd figures/05-explained_variance && rm figure.svg && cp figure.gp mine.gp &&
    gnuplot -d -e "formats = 'svg'" mine.gp)
same figures/05-explained_variance/figure.svg before.svg
expect 0 "$QKSCOPE" figures tables --out figures --only explained_variance --format svg
[ -e figures/05-explained_variance/mine.gp ] || fail "the user's file is gone"
[ -z "$(find figures -name '.*' -mindepth 1)" ] || fail "temporary folders stay behind"

# --- a collage from a table made elsewhere
rm tables/collage.*
sql tables "COPY (SELECT model, layer, head, side, position, position / 100.0 AS pc0, sin(position) AS pc1
    FROM (SELECT DISTINCT model, layer, head FROM qk ORDER BY ALL LIMIT 4),
         (SELECT unnest(['q', 'k']) AS side), range(50) AS p(position))
    TO 'tables/collage.csv' (HEADER)" >/dev/null
expect 0 "$QKSCOPE" figures tables --out collage --only 6
check_figures collage 1

# --- the published tables: what is a heatmap is drawn, every cell as it is printed there
for table in crossmodel_rq=03 crossmodel_rk=04 smollm3_rq=10 smollm3_rk=11; do
    file=$tests/../studies/published/${table%=*}.csv
    expect 0 "$QKSCOPE" figures "$file" --out papers --format svg
    python3 - "$file" papers/"${table#*=}"-*/figure.svg <<'EOF' || fail "$table is drawn otherwise"
import csv, re, sys
cells = [cell for row in list(csv.reader(open(sys.argv[1])))[1:] for cell in row[1:]]
svg = open(sys.argv[2], encoding="utf-8").read()
printed = re.findall(r"<text>(\u2212?\d\.\d\d)</text>", svg)
assert printed == [cell.replace("-", "\u2212") for cell in cells], (printed[:12], cells[:12])
EOF
done
for table in crossmodel_summary smollm3_trajectory; do
    expect 1 "$QKSCOPE" figures "$tests/../studies/published/$table.csv" --out papers
    one_line
    says "is neither a qk table nor a heatmap"
done

# --- other heatmaps: r_q or r_k by the file's name, or as asked for
{
    echo "checkpoint,0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9"
    echo "first,0.59,0.74,0.78,0.45,0.20,0.40,,0.34,0.21,0.47"
    echo "second,0.54,0.63,0.84,0.53,0.37,0.49,,0.48,-0.38,0.49"
} >cells_rk.csv
expect 0 "$QKSCOPE" figures cells_rk.csv --out published
check_figures published 1
[ -e published/11-layer_heatmap_rk ] || fail "not figure 11"
grep -q "<text>−0.38</text>" published/11-*/figure.svg || fail "a cell is not printed"
cp cells_rk.csv cells.csv
expect 2 "$QKSCOPE" figures cells.csv --out published
says "--only layer_heatmap_rq"
expect 0 "$QKSCOPE" figures cells.csv --out published --only layer_heatmap_rq --format svg
[ -e published/10-layer_heatmap_rq/figure.svg ] || fail "not figure 10"

# --- names from strangers, in every figure of both kinds
python3 - <<'EOF'
import csv, random
names = ["it's \"q\" `touch pwned` $(touch pwned)", "''''; system \"touch pwned\"; ''", "a\nb\tc",
         "@x {/Bold y} }{ # z", "</text><script>alert(1)</script>&amp;", "=1+1", "-e system('touch pwned')",
         "../../etc/passwd", "x" * 300, "\u65e5\u672c \u202eabc", "50% %s %d \\"]
draw = random.Random(0)
for kind in ("phase", "family"):
    with open(f"{kind}_qk.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow("model,layer,head,k_head,pc,explained_variance,r_q,r_k".split(","))
        rows.writerows([name, layer, 0, 0, pc, 0.3 / (1 + pc), draw.random(), draw.uniform(-1, 1)]
                       for name in names for layer in range(12) for pc in range(3))
    with open(f"{kind}_study.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["order", "model", kind, "layers"])
        rows.writerows([i, name, name, 12] for i, name in enumerate(names))
EOF
for kind in phase family; do
    expect 0 "$QKSCOPE" figures ${kind}_qk.csv --study ${kind}_study.csv --out hostile-$kind
done
check_figures hostile-phase 8
check_figures hostile-family 5
[ -z "$(find . -name pwned)" ] || fail "a name was run"

# --- wrong usage
for wrong in "run --only 3" "run --only nothing" "run --format gif" "run --portraits nobody" "run --threads 0"; do
    # shellcheck disable=SC2086 # several arguments
    expect 2 "$QKSCOPE" figures $wrong --out wrong
    one_line
    [ ! -e wrong ] || fail "'$wrong' made a folder"
done
expect 1 "$QKSCOPE" figures nowhere
one_line
expect 1 "$QKSCOPE" figures "$models/qk.csv" --out wrong
says "give --shape, --config or --study"

# --- without gnuplot: scripts, data and explanations, the tables as they were, exit 3
cp -r run/tables before
mkdir empty
expect 3 env PATH="$PWD/empty" "$QKSCOPE" figures run --out undrawn
one_line
says "apt install gnuplot-nox"
same run/tables before
[ -s undrawn/07-position_signal/figure.gp ] || fail "no script"
[ ! -e undrawn/07-position_signal/figure.png ] || fail "a figure from nowhere"
