#!/usr/bin/env bash
# What a rerun keeps and what it computes again: after changed weights, options and programs, after
# a rank died, after Ctrl-C twice. And what may not change at all: threads and chunks.
. "$(dirname "$0")/lib.bash"

demo=$tests/../demo
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

head -6 "$demo/text.jsonl" >text.jsonl
cp -r "$demo/LC1-60" late
cat >study.yaml <<YAML
name: small
kind: training
text: {path: text.jsonl, column: text, id: id}
capture: {groups: 3, pairs: 8}
defaults: {tokenizer: $demo/tokenizer.json, max_length: 128}
models:
  - {label: early, phase: one, model: $demo/S1-60}
  - {label: late, phase: two, model: late}
figures: none
YAML
run() { # directory more...
    "$QKSCOPE" run "${study:-study.yaml}" --out "$1" --threads 1 "${@:2}"
}
changed() { # from to
    sed "s/$1/$2/" study.yaml >changed.yaml
    if cmp -s study.yaml changed.yaml; then fail "'$1' is not in the study"; fi
    study=changed.yaml expect 0 run whole
}
expect 0 run whole
says "6 units: 6 computed, 0 were there"
cp -r whole/tables first

# --- options: all units, those of one model, or none
changed 'pairs: 8' 'pairs: 9'
says "6 units: 6 computed, 0 were there"
changed 'groups: 3' 'groups: 3, seed: 5'
says "6 units: 6 computed, 0 were there"
changed 'model: late' 'model: late, rope_theta: 777'
says "6 units: 3 computed, 3 were there"
changed 'groups: 3' 'groups: 2'
says "4 units: 4 computed, 0 were there"
changed 'name: small' 'name: other'
says "6 units: 0 computed, 6 were there"
same whole/tables first

# --- weights: one number of one tensor
cp late/model.safetensors before.safetensors
python3 "$tests/cli/damage.py" late/model.safetensors \
    model.layers.0.self_attn.q_proj.weight 7 0.25
expect 0 run whole
says "6 units: 3 computed, 3 were there"
if cmp -s whole/tables/qk.csv first/qk.csv; then fail "other weights gave the same tables"; fi
cp before.safetensors late/model.safetensors # of another time, but the same bytes
expect 0 run whole
says "6 units: 0 computed, 6 were there"
same whole/tables first

# --- a program of another version computes all units again
version=$("$QKSCOPE" version | sed -n '1s/^qkscope \([0-9.]*\).*/\1/p')
python3 - "$QKSCOPE" "$version" <<'PY'
import os, sys
program = open(sys.argv[1], "rb").read()
old = b"\0" + sys.argv[2].encode() + b"\0"
assert old in program
new = old.replace(b"0", b"9", 1) if b"0" in old else old.replace(b"1", b"9", 1)
open("newer", "wb").write(program.replace(old, new))
os.chmod("newer", 0o755)
PY
cp -r whole newer-run
expect 0 ./newer run study.yaml --out newer-run --threads 1
says "6 units: 6 computed, 0 were there"

# --- threads and chunks: r to 1e-6
capture() { # out more...
    expect 0 "$QKSCOPE" capture "$demo/nano-qwen3" --tokenizer "$demo/tokenizer.json" \
        --text text.jsonl --limit 3 --max-length 256 --groups 3 --out "$@"
    expect 0 "$QKSCOPE" analyze "$1" --out "$1-tables"
}
capture one --threads 1 --chunk 512
capture two --threads 2 --chunk 512
capture odd --threads 2 --chunk 37
for other in two odd; do
    compare $other-tables/qk.csv one-tables/qk.csv --key model,layer,head,pc \
        --abs 1e-6 r_q,r_k,explained_variance
done

# --- a rank that dies: what is finished stays, and a rerun makes the rest
if command -v mpirun >/dev/null; then
    : >events.txt
    timeout 100 mpirun --oversubscribe -n 2 "$QKSCOPE" run study.yaml --out ranks --threads 1 \
        --json >events.txt 2>stderr.txt &
    pid=$!
    until grep -q '"unit"' events.txt; do sleep 0.005; done
    rank=$(pgrep -f "run study.yaml --out ranks --threads 1" | while read -r process; do
        tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx OMPI_COMM_WORLD_RANK=1 &&
            echo "$process"
    done | head -1) || true
    [ -z "$rank" ] || kill -9 "$rank" 2>/dev/null || true
    if wait $pid; then echo "the run was over before its rank could die"; fi
    n=$(find ranks/units -name '*.unit' | grep -c .)
    [ "$n" -ge 1 ] || fail "the dead rank took finished units with it"
    expect 0 timeout 100 mpirun --oversubscribe -n 2 "$QKSCOPE" run study.yaml --out ranks --threads 1
    says "6 units: $((6 - n)) computed, $n were there"
    same ranks/tables first
else
    echo "mpirun is not here: ranks are not tested"
fi

# --- Ctrl-C once more leaves at once, and what is finished is still there
sed 's/max_length: 128/max_length: 2048/' study.yaml >long.yaml
set -m
: >events.txt
"$QKSCOPE" run long.yaml --out twice --threads 1 --json >events.txt 2>stderr.txt &
pid=$!
set +m
until grep -q '"unit"' events.txt; do sleep 0.005; done
kill -STOP $pid # so that both signals wait for it
kill -INT $pid
kill -TERM $pid
kill -CONT $pid
code=0
wait $pid || code=$?
equal $code 130
equal "$(cat stderr.txt)" ""
[ "$(find twice/units -name '*.unit' | grep -c .)" -ge 1 ] || fail "the finished unit is gone"
