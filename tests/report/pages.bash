# shellcheck shell=bash
# The runs that the page is tried with; sourced by tests/cli/report.sh and tests/cli/page.sh after
# lib.bash, which sets `data`.
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

# A training run with a manifest and a figure.
make_run() { # -> run
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
}

# One model with error bars, drift plane and plasticity; a folder of CSV tables only.
make_one() { # -> one
    expect 0 "$QKSCOPE" analyze "$data/dataset" --groups document --context 1024 --out one
    rm one/*.parquet
    expect 0 "$QKSCOPE" report one
}

# Names that try to break out.
make_odd() { # -> odd
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
}
