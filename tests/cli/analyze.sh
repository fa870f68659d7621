#!/usr/bin/env bash
# The captured dataset of data/analysis through the program, every expected table within its
# tolerance: from the vectors, from a unit file, and from unit files that hold parts of it.
. "$(dirname "$0")/lib.bash"

# All tables in a folder against the expected ones; plasticity to a tolerance of its own, since a
# unit file keeps key differences as float32.
check_tables() { # folder plasticity-tolerance
    echo "--- $1"
    compare "$1/qk.csv" "$data/expected/qk.csv" --key model,layer,head,pc --same k_head \
        --abs 1e-9 explained_variance --when unique=1 --abs 1e-9 r_q,r_k -- \
        "$1/qk.csv" "$data/expected/extra.csv" --key model,layer,head,pc \
        --when unique=1 --rel 1e-8 mu_q,mu_k,alpha_q,alpha_k -- \
        "$1/heads.csv" "$data/expected/heads.csv" --key model,layer,head --same k_head,n_q,n_k \
        --abs 1e-9 r_q_a,r_k_a,separation_strength,var_frac_a \
        --rel 1e-8 alpha_q,alpha_k,mu_q_a,mu_k_a,bias_strength \
        --when unique_pc0=1 --same class --rel 1e-8 separation,fisher_ratio,bias_term,interaction \
        --when unique_all=1 --abs 1e-9 pos_share_q,pos_share_k \
        --when unique_b=1 --abs 1e-9 var_frac_b,plane_var_fraction --rel 1e-8 mu_q_b,mu_k_b -- \
        "$1/qk.csv" "$data/expected/jackknife.csv" --key model,layer,head --actual-only pc=0 \
        --rel 1e-6 se_explained_variance,se_r_q=se_r_q_aligned,se_r_k=se_r_k_aligned -- \
        "$1/heads.csv" "$data/expected/jackknife.csv" --key model,layer,head \
        --same stable --rel 1e-6 se_bias_strength -- \
        "$1/depth.csv" "$data/expected/depth.csv" --key model,bin --same label,n_heads \
        --abs 1e-9 r_q,r_k,explained_variance --rel 1e-8 bias_strength -- \
        "$1/depth.csv" "$data/expected/jackknife_depth.csv" --key model,bin \
        --rel 1e-6 se_r_q=se_r_q_aligned,se_r_k=se_r_k_aligned -- \
        "$1/plasticity.csv" "$data/plasticity/heads.csv" --key model,layer,head,variant \
        --same k_head,n_bucket_pairs --abs "$2" ap_overall,ap_first_20,ap_last_20,ap_drop
    no_nan "$1"
}

# --- from the vectors, by one thread and by two
common=(--groups document --context 1024)
expect 0 "$QKSCOPE" analyze "$data/dataset" "${common[@]}" --plasticity all --threads 1 --out one
says "12 heads of 1 model analysed"
check_tables one 1e-9
expect 0 "$QKSCOPE" analyze "$data/dataset" "${common[@]}" --plasticity all --threads 2 --out two
same one two

# --- the Parquet tables hold what the CSV tables do, column by column
for table in qk heads depth trajectory plasticity findings; do
    sql one "FROM $table" >parquet.csv
    same parquet.csv "one/$table.csv"
done

# --- as a unit file, with room for every key pair, so that the sample is all of them
expect 0 "$QKSCOPE" merge "$data/dataset" "${common[@]}" --plasticity 400 --out whole.unit
expect 0 "$QKSCOPE" analyze whole.unit --out from-unit
check_tables from-unit 1e-6

# --- in parts of three documents each; those of the second are short and lack the last bucket
for part in "part1 -1257339932,1315490589,1777254642" "part2 1088000895,-900992545,1234733447"; do
    read -r folder ids <<<"$part"
    for file in "$data"/dataset/*/data.parquet; do
        head=$(basename "$(dirname "$file")")
        echo "COPY (FROM read_parquet('$file') WHERE example_id IN ($ids))
              TO '$folder/$head/data.parquet';"
        mkdir -p "$folder/$head"
    done >copy.sql
    sql . "$(cat copy.sql)" >/dev/null
    cp "$data/dataset/README.md" "$folder"
    expect 0 "$QKSCOPE" merge "$folder" "${common[@]}" --plasticity 400 --out "$folder.unit"
done
expect 0 "$QKSCOPE" analyze part1.unit part2.unit --out from-parts
check_tables from-parts 1e-6
expect 0 "$QKSCOPE" merge part2.unit part1.unit --out joined.unit
expect 0 "$QKSCOPE" analyze joined.unit --out from-joined
same from-parts from-joined

# --- buckets: those captured are of 64 positions; of 128 there are half as many. Two heads have
# keys that are all equal, so no pairs.
expect 0 "$QKSCOPE" analyze "$data/dataset" "${common[@]}" --plasticity all --bucket 64 --out b64
same one b64
expect 0 "$QKSCOPE" analyze "$data/dataset" "${common[@]}" --plasticity all --bucket 128 --out b128
equal "$(sql b128 "SELECT n_bucket_pairs, count(*) AS n FROM plasticity GROUP BY 1 ORDER BY 1")" \
    $'n_bucket_pairs,n\n0,6\n28,30'
same one/qk.csv b128/qk.csv

# --- fewer components are the first of more
expect 0 "$QKSCOPE" analyze "$data/dataset" "${common[@]}" --plasticity none --components 2 --out few
equal "$(sql few "SELECT count(*) AS n FROM qk")" $'n\n24'
compare one/qk.csv few/qk.csv --key model,layer,head,pc --some-rows --abs 1e-12 r_q,r_k
equal "$(sql few "SELECT count(*) AS n FROM plasticity")" $'n\n0'

# --- without a card the folder's name is the model's, however it is spelled
for head in l00h00q l00h00k; do
    head_file captured/run-7 $head \
        "SELECT 0 AS bucket, i // 5 AS example_id, i % 5 AS position, [i, i * i % 7]::FLOAT[] AS vector
         FROM range(10) t(i)"
done
for path in captured/run-7 captured/run-7/ captured/run-7/. captured; do
    expect 0 "$QKSCOPE" analyze "$path" --shape 1/1/1 --out named
    equal "$(sql named "SELECT DISTINCT model FROM qk")" $'model\nrun-7'
done

# --- a dataset without a row has nothing to analyze
for head in l00h00q l00h00k; do
    head_file nothing $head \
        "SELECT 0 AS bucket, 0 AS example_id, 0 AS position, [1, 2]::FLOAT[] AS vector WHERE false"
done
expect 1 "$QKSCOPE" analyze nothing --shape 1/1/1 --out none
one_line
says "no head of 'nothing' has a row"

# --- drawn key pairs of float64 vectors with a large mean: as good as all pairs
for mean in 0 1e9; do
    for side in "l00h00q 0" "l00h00k $mean"; do
        read -r head from <<<"$side"
        head_file "far-$mean" "$head" \
            "SELECT i % 40 // 8 AS bucket, i // 40 AS example_id, i % 40 AS position,
                    [$from + sin(i * i) + 0.01 * (i % 40), cos(i * i * i) - $from, sin(7 * i)] AS vector
             FROM range(120) t(i)"
    done
    for pairs in all 400; do
        expect 0 "$QKSCOPE" analyze "far-$mean" --shape 1/1/1 --model m --plasticity $pairs \
            --out "far-$mean-$pairs"
    done
    compare "far-$mean-400/plasticity.csv" "far-$mean-all/plasticity.csv" --key model,variant \
        --same n_bucket_pairs --abs 1e-6 ap_overall,ap_first_20,ap_last_20
done
