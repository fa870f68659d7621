#!/usr/bin/env bash
# Models that go wrong while they run: NaN, infinity, a process that dies, memory that does not
# suffice. The model stops, is named with the place, and leaves nothing; the rest of a study stands.
. "$(dirname "$0")/lib.bash"

demo=$tests/../demo
echo '{"id": "first", "input_ids": [0, 1, 2, 3]}' >ids.jsonl

damaged() { # tensor index value
    rm -rf model out
    cp -r "$tests/data/models/llama-gqa" model
    python3 "$tests/cli/damage.py" model/model.safetensors "$@"
    expect 1 "$QKSCOPE" capture model --text ids.jsonl --keep both --out out
    one_line
    equal "$(find out -type f ! -name .lock)" ""
}

# --- NaN and infinity, in weights, queries and keys
attention=model.layers.1.self_attn
damaged $attention.q_proj.weight 64 nan
says "layer 1: tensor '$attention.q_proj.weight' holds NaN or infinity in row 1"
damaged $attention.k_proj.weight 0 -inf
says "tensor '$attention.k_proj.weight' holds NaN or infinity in row 0"
damaged model.layers.2.input_layernorm.weight 3 nan
says "tensor 'model.layers.2.input_layernorm.weight' holds NaN or infinity"
damaged model.embed_tokens.weight 70 inf # the row of token 1
says "token"
damaged $attention.q_proj.weight 5 3e38 # finite, but not what comes of it
says "NaN or infinity in layer 1, query head 0, document 'first', token "
damaged $attention.k_proj.weight 5 3e38
says "NaN or infinity in layer 1, key head 0, document 'first', token "

# --- in a study the others go on, and no table knows the broken one
cat >study.yaml <<YAML
name: broken
kind: models
text: {path: ids.jsonl}
capture: {groups: 1, pairs: 2}
models:
  - {label: good, model: $tests/data/models/llama-gqa}
  - {label: bad, model: model}
figures: none
YAML
expect 3 "$QKSCOPE" run study.yaml --out run --threads 1
says "model 'bad' failed: NaN or infinity in layer 1, key head 0"
for table in qk heads depth; do
    equal "$(sql run/tables "SELECT DISTINCT model FROM $table")" $'model\ngood'
done
equal "$(find run/units/bad -type f)" ""

# --- documents that cannot be used are counted in the manifest
printf '{"input_ids": [%s]}\n' 1,2,3,4,5,6,7,8,9 1,2,3 5 "" 6,7 >ids.jsonl
sed -i -e '/label: bad/d' -e 's/^models:/defaults: {max_length: 8}\n&/' study.yaml
expect 0 "$QKSCOPE" run study.yaml --out counted --threads 1
equal "$(python3 -c 'import json
m = json.load(open("counted/manifest.json"))["models"][0]
print(*(m[k] for k in ("documents", "tokens", "truncated", "too_short", "empty", "not_utf8")))')" \
    "3 13 1 1 1 0"

# --- a worker that reads where it may not, or calls what ends it
program=("$QKSCOPE" run dying.yaml --threads 1 --json --out)
head -6 "$demo/text.jsonl" >text.jsonl
cat >dying.yaml <<YAML
name: dying
kind: models
text: {path: text.jsonl, column: text, id: id}
capture: {groups: 6, pairs: 8}
defaults: {tokenizer: $demo/tokenizer.json, max_length: 512}
models:
  - {label: early, model: $demo/S1-60}
  - {label: late, model: $demo/LC1-60}
figures: none
YAML
for signal in SEGV BUS ABRT; do
    code=0
    for _ in {1..30}; do # the run may be over before the signal comes: try again
        rm -rf dying
        : >events.txt
        "${program[@]}" dying >events.txt 2>stderr.txt &
        pid=$!
        until grep -q '"unit"' events.txt; do sleep 0.002; done
        pkill -$signal -P $pid || true
        code=0
        wait $pid || code=$?
        [ "$code" -ne 0 ] && break
    done
    err=$(cat stderr.txt)
    equal "$code" 3
    says "its process was killed by signal $(kill -l $signal)"
    says "1 of 2 models failed; the rest is in dying"
done
