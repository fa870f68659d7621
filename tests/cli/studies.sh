#!/usr/bin/env bash
# Full-size studies, ten checkpoints and eleven models, from their qk tables: the tables behind the
# figures to 1e-9, and order, phase and family as the study says.
. "$(dirname "$0")/lib.bash"

bins=0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9

for kind in training models; do
    study=$data/figures/${kind}_synthetic
    expect 0 "$QKSCOPE" analyze "$study/qk.csv" --study "$study/study.csv" --out "$kind"
    no_nan "$kind"

    for column in r_q r_k n_heads; do
        sql "$kind" "PIVOT (SELECT model, label, $column FROM depth) ON label USING first($column)
                     GROUP BY model" >"$column.csv"
    done
    compare r_q.csv "$study/expected/depth_rq.csv" --key model --abs 1e-9 $bins
    compare r_k.csv "$study/expected/depth_rk.csv" --key model --abs 1e-9 $bins
    compare n_heads.csv "$study/expected/depth_heads.csv" --key model --same $bins

    means=mean_r_q,sd_r_q,mean_r_k,sd_r_k,mean_explained_variance,sd_explained_variance
    compare "$kind/trajectory.csv" "$study/expected/summary.csv" --key model --same n_heads \
        --abs 1e-9 $means,mean_abs_r_k,pos_share_q,pos_share_k
    classes=position-dominated,Q-positional,K-positional,content-focused,mixed
    compare "$kind/trajectory.csv" "$study/expected/taxonomy.csv" --key model --abs 1e-9 $classes
    sql "$kind" "SELECT class, count(*) AS n, count(*) / sum(count(*)) OVER () AS fraction
                 FROM heads GROUP BY class" >classes.csv
    compare classes.csv "$study/expected/taxonomy_all.csv" --key class --same n --abs 1e-9 fraction
    sql "$kind" "SELECT pc, count(*) AS n_heads, avg(explained_variance) AS mean_explained_variance,
                 avg(r_q) AS mean_r_q, avg(r_k) AS mean_r_k, stddev_samp(r_q) AS sd_r_q,
                 stddev_samp(r_k) AS sd_r_k FROM qk GROUP BY pc" >pcs.csv
    compare pcs.csv "$study/expected/pcs.csv" --key pc --same n_heads \
        --abs 1e-9 mean_explained_variance,mean_r_q,mean_r_k,sd_r_q,sd_r_k

    # the models in the study's order, whatever the order of the rows
    group=$([ $kind = training ] && echo phase || echo family)
    compare "$kind/trajectory.csv" "$study/study.csv" --key model --same "order,$group"
    equal "$(tail -n +2 "$kind/trajectory.csv" | cut -d, -f1)" \
        "$(tail -n +2 "$study/study.csv" | cut -d, -f1)"
    # what only moments can tell is blank
    equal "$(sql "$kind" "SELECT count(*) AS n FROM heads WHERE separation IS NOT NULL
                          OR bias_strength IS NOT NULL OR stable IS NOT NULL OR n_q IS NOT NULL")" \
        $'n\n0'
    equal "$(sql "$kind" "SELECT count(*) AS n FROM trajectory WHERE se_r_q IS NOT NULL")" $'n\n0'
done

# --- findings: checkpoints have trends and steps, models have not
equal "$(sql models "SELECT count(*) AS n FROM findings WHERE subject = 'training'")" $'n\n0'
sql training "SELECT quantity, value FROM findings WHERE subject = 'S3-4.7M -> LC1-4K'
              AND quantity LIKE 'change_mean_r_k%'" >step.csv
grep -q '^change_mean_r_k,' step.csv || fail "no change at the phase boundary"
grep -q '^change_mean_r_k_flipped_sign,' step.csv || fail "no part from sign flips"
python3 - step.csv <<'EOF' || fail "the parts of the change do not make the change"
import csv, sys
v = {r["quantity"]: float(r["value"]) for r in csv.DictReader(open(sys.argv[1]))}
parts = v["change_mean_r_k_kept_sign"] + v["change_mean_r_k_flipped_sign"]
sys.exit(abs(parts - v["change_mean_r_k"]) > 1e-12)
EOF

# --- the rows in another order, from Parquet, with the same result
mkdir shuffled
sql training "COPY (SELECT r_k, r_q, explained_variance, 'x' AS more, pc, k_head, head, layer, model
              FROM qk ORDER BY hash(layer, head, pc, model)) TO 'shuffled/qk.parquet'" >/dev/null
expect 0 "$QKSCOPE" analyze shuffled/qk.parquet \
    --study "$data/figures/training_synthetic/study.csv" --out again
same training again

# --- what a study must say
qk=$data/figures/models_synthetic/qk.csv
expect 1 "$QKSCOPE" analyze "$qk" --out none
says "does not say how many layers model 'qwen3-0.6b' has"
expect 1 "$QKSCOPE" analyze "$qk" --shape 20/16/8 --out none
says "heads up to layer 27, which do not fit 20 layers"
head -3 "$data/figures/models_synthetic/study.csv" >short.csv
expect 1 "$QKSCOPE" analyze "$qk" --study short.csv --shape 50/40/8 --out none
says "the study does not name model"
for layers in 99999999999 0 -1 ""; do
    printf 'model,layers\nqwen3-0.6b,%s\n' "$layers" >deep.csv
    expect 1 "$QKSCOPE" analyze "$qk" --study deep.csv --out none
    says "row 1: a model needs a name and 1 to 4096 layers"
done
printf 'model,layers\nqwen3-0.6b,28\nqwen3-0.6b,28\n' >twice.csv
expect 1 "$QKSCOPE" analyze "$qk" --study twice.csv --out none
says "names model 'qwen3-0.6b' twice"
[ ! -e none ] || fail "a failed analyze left tables"
