#!/usr/bin/env bash
# Heads that go wrong: a large mean, no variance, three rows, no partner, no rows, NaN. A number
# stands by rule or is blank, the head is flagged, one warning is given; NaN stops the model.
. "$(dirname "$0")/lib.bash"

# Rows of one head: three documents of ten rows. Vectors are multiples of 2^-20, so that adding an
# offset is exact; x0 drifts by `drift` of the position.
rows() { # drift offset
    echo "SELECT (p // 4)::INT AS bucket, e::INT AS example_id, p::INT AS position,
          [$2 + round(($1 * p + 2 * sin(7 * p + 3 * e)) * 1048576) / 1048576,
           -($2) + round(sin(5 * p + e) * 1048576) / 1048576,
           $2 + round((cos(3 * p + e) + e * 0.3) * 1048576) / 1048576]::DOUBLE[] AS vector
          FROM range(10) p(p), range(3) e(e)"
}

# --- a large mean: 1e4 and 1e8 give what 0 gives, to 1e-9
for offset in 0 1e4 1e8; do
    head_file "offset$offset" l00h00q "$(rows 0.5 "$offset")"
    head_file "offset$offset" l00h00k "$(rows -0.25 "$offset")"
    expect 0 "$QKSCOPE" analyze "offset$offset" --shape 1/1/1 --model m --out "out$offset"
done
for offset in 1e4 1e8; do
    compare "out$offset/qk.csv" out0/qk.csv --key model,layer,head,pc \
        --abs 1e-9 r_q,r_k,explained_variance --rel 1e-8 alpha_q,alpha_k \
        --rel 1e-6 se_r_q,se_r_k,se_explained_variance
    compare "out$offset/heads.csv" out0/heads.csv --key model,layer,head --same class,flags,stable \
        --abs 1e-9 pos_share_q,r_q_a,r_k_a,var_frac_a,var_frac_b,separation_strength \
        --rel 1e-8 separation,fisher_ratio,interaction,alpha_q,alpha_k
done

# --- one dataset with all that heads can lack, a layer each
head_file lacking l00h00q "$(rows 0.5 0)" # 0: nothing
head_file lacking l00h00k "$(rows 0.3 0)"
flat="SELECT 0 AS bucket, 1 AS example_id, p::INT AS position, [0.1, 1e8 / 3, -2]::DOUBLE[] AS vector
      FROM range(30) p(p)"
head_file lacking l01h00q "$flat" # 1: no variance
head_file lacking l01h00k "$flat"
head_file lacking l02h00q "$(rows 0.5 0) LIMIT 2" # 2: three rows
head_file lacking l02h00k "$(rows 0.5 0) LIMIT 1"
head_file lacking l03h00q "$(rows 0.5 0)" # 3: keys not captured
head_file lacking l04h00q "$(rows 0.5 0)" # 4: keys captured, but no rows
head_file lacking l04h00k "$(rows 0.5 0) LIMIT 0"
head_file lacking l05h00q "$(rows 0.5 0)" # 5: flat keys
head_file lacking l05h00k "${flat/1e8 \/ 3/0.2}"
head_file lacking l06h00k "$(rows 0.5 0)" # 6: keys that no query head uses
expect 0 "$QKSCOPE" analyze lacking --shape 7/1/1 --out lacking-out
no_nan lacking-out
equal "$(sql lacking-out "SELECT layer, n_q, n_k, flags FROM heads ORDER BY layer")" "\
layer,n_q,n_k,flags
0,30,30,
1,30,30,flat-q flat-k no-variance
2,2,1,few-k
3,30,0,few-k
4,30,0,few-k
5,30,30,flat-k"
equal "$(sql lacking-out "SELECT layer, count(*) AS pcs FROM qk GROUP BY layer ORDER BY layer")" "\
layer,pcs
0,3
1,3
2,3
3,3
4,3
5,3"
# 0 by rule
equal "$(sql lacking-out "SELECT count(*) AS n FROM qk WHERE layer = 1
                          AND (r_q != 0 OR r_k != 0 OR explained_variance != 0)")" $'n\n0'
equal "$(sql lacking-out "SELECT count(*) AS n FROM qk WHERE layer BETWEEN 2 AND 5 AND r_k != 0")" \
    $'n\n0'
# blank where there is nothing to take a mean of
equal "$(sql lacking-out "SELECT DISTINCT layer FROM qk WHERE mu_k IS NULL ORDER BY 1")" \
    $'layer\n3\n4'
equal "$(sql lacking-out "SELECT layer FROM heads WHERE separation IS NULL ORDER BY 1")" \
    $'layer\n3\n4'
# -0.0 is no number to show
if grep -wE -- '-0\.0' lacking-out/*.csv; then fail "-0.0 in a table"; fi
# each warning once
equal "$(grep -c warning: stderr.txt)" 2
says "the keys of 2 heads were not captured"
says "numbers of 5 heads are 0 by rule"

# --- the same through a unit file
expect 0 "$QKSCOPE" merge lacking --shape 7/1/1 --out lacking.unit
expect 0 "$QKSCOPE" analyze lacking.unit --out lacking-unit
for table in heads depth trajectory plasticity; do
    same "lacking-out/$table.csv" "lacking-unit/$table.csv"
done

# --- a sliding window counts in the unit file too
head_file window l00h00q "SELECT *, 5 AS sliding_window FROM ($(rows 0.5 0))"
head_file window l00h00k "SELECT *, 5 AS sliding_window FROM ($(rows 0.3 0))"
expect 0 "$QKSCOPE" analyze window --shape 1/1/1 --model m --out window-out
expect 0 "$QKSCOPE" merge window --shape 1/1/1 --model m --out window.unit
expect 0 "$QKSCOPE" analyze window.unit --out window-unit
same window-out/plasticity.csv window-unit/plasticity.csv
# buckets of 4 positions, three of them: (1, 0) and (2, 1) are in sight, (2, 0) is not
equal "$(sql window-out "SELECT DISTINCT n_bucket_pairs FROM plasticity")" $'n_bucket_pairs\n2'
equal "$(sql out0 "SELECT DISTINCT n_bucket_pairs FROM plasticity")" $'n_bucket_pairs\n3'

# --- what stops the model: named, exit 1, no tables
bad() { # what vector part
    head_file "bad-$1" l00h00q "$(rows 0.5 0)"
    head_file "bad-$1" l00h00k "SELECT bucket, example_id, position,
        CASE WHEN position = 7 AND example_id = 1 THEN $2 ELSE vector END AS vector
        FROM ($(rows 0.5 0))"
    expect 1 "$QKSCOPE" analyze "bad-$1" --shape 1/1/1 --out "bad-$1-out"
    one_line
    says "$3"
    [ ! -e "bad-$1-out" ] || fail "bad-$1 left tables"
    expect 1 "$QKSCOPE" merge "bad-$1" --shape 1/1/1 --out "bad-$1.unit"
    [ ! -e "bad-$1.unit" ] || fail "bad-$1 left a unit file"
}
bad nan "[1, 'nan'::DOUBLE, 1]" "l00h00k"
bad inf "[1, 1, '-inf'::DOUBLE]" "l00h00k"
bad huge "[1e200, 1, 1]" "number beyond 1e+60"
bad short "[1, 1]" "l00h00k"
bad null "NULL" "l00h00k"

# --- shapes
expect 1 "$QKSCOPE" analyze offset0 --out none
says "does not say the model's shape"
expect 1 "$QKSCOPE" analyze lacking --shape 6/1/1 --out none
says "do not fit a model of shape 6/1/1"
for shape in 1/2/3 0/1/1 1/1 1/1/1/1 x -1/1/1 99999999999/1/1; do
    expect 2 "$QKSCOPE" analyze offset0 --shape "$shape" --out none
done
expect 1 "$QKSCOPE" analyze window.unit --shape 2/1/1 --out none
says "shape 1/1/1"

# --- unit files that do not belong together
expect 1 "$QKSCOPE" merge window.unit window.unit --out twice.unit
says "is in two unit files"
head_file other l00h00q "$(rows 0.5 0)"
expect 0 "$QKSCOPE" merge other --shape 1/1/1 --model m --out other.unit
expect 1 "$QKSCOPE" merge window.unit other.unit --out mixed.unit
says "differ in"
expect 0 "$QKSCOPE" merge other --shape 1/1/1 --model n --out n.unit
expect 1 "$QKSCOPE" merge window.unit n.unit --out mixed.unit
says "a unit file is of one"
expect 1 "$QKSCOPE" analyze window.unit --plasticity all --out none
says "sample of key pairs, not all"
expect 1 "$QKSCOPE" analyze window.unit --bucket 2 --out none
says "position buckets already"
expect 1 "$QKSCOPE" analyze window.unit --groups 2 --out none
says "3 document groups already"
head -c 1000 window.unit >cut.unit
expect 1 "$QKSCOPE" analyze cut.unit --out none
says "cut.unit"
for left in none mixed.unit twice.unit; do
    [ ! -e $left ] || fail "a failed command left $left"
done
