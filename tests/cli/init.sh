#!/usr/bin/env bash
# A study file for a folder of checkpoints: what is found, in which order, with which tokenizer; what
# comes out passes `qkscope check`, and nothing is ever overwritten.
. "$(dirname "$0")/lib.bash"

demo=$tests/../demo
labels() { # study file: the labels in order
    sed -n 's/^  - {label: \([^,]*\),.*/\1/p' "$1" | tr '\n' ' '
}

# --- a training run: order by phase and step, the tokenizer beside the checkpoints, the text there
mkdir run
cp -r "$demo"/{S1-60,S1-600,S1-1.2K,S3-2.8K,LC1-60,LC2-60,tokenizer.json,text.jsonl} run
expect 0 "$QKSCOPE" init run
says "6 checkpoints in"
says "qkscope check"
equal "$(labels run/study.yaml)" "S1-60 S1-600 S1-1.2K S3-2.8K LC1-60 LC2-60 "
grep -q '^kind: training' run/study.yaml || fail "not a training study"
grep -q '{label: LC1-60, phase: LC1, model: LC1-60}' run/study.yaml || fail "$(cat run/study.yaml)"
grep -q '^defaults: {tokenizer: tokenizer.json}' run/study.yaml || fail "no tokenizer"
expect 0 "$QKSCOPE" check run/study.yaml
[[ $out == *"study    run (training)"* ]] || fail "check says $out"

cp run/study.yaml before.yaml
expect 2 "$QKSCOPE" init run
says "is there already"
same run/study.yaml before.yaml

# --- models: another shape, a GGUF file with its own tokenizer, one below another folder
mkdir -p models/deeper
cp -r "$demo"/{nano-llama,nano-qwen3} models
cp -r "$demo/S1-600" "models/deeper/it's: a \"name\""
cp "$tests/data/gguf/qwen3-yarn.gguf" models/other.gguf
head -n 4 "$demo/text.jsonl" >"my text.jsonl"
expect 2 "$QKSCOPE" init models
says "which text?"
expect 2 "$QKSCOPE" init models --text "my text.jsonl"
says "3 checkpoints"
says "give --tokenizer PATH"
expect 0 "$QKSCOPE" init models --text "my text.jsonl" --tokenizer "$demo/tokenizer.json" \
    --out studies.yaml
grep -q '^kind: models' studies.yaml || fail "not a study of models"
equal "$(sed -n 's/^  - {label: //p' studies.yaml | sed 's/, family.*//' | tr '\n' ' ')" \
    "\"deeper/it's: a \\\"name\\\"\" nano-llama nano-qwen3 other "
grep -q 'path: "my text.jsonl"' studies.yaml || fail "the text: $(grep ^text studies.yaml)"
[ "$(grep -c 'tokenizer: ' studies.yaml)" -eq 3 ] || fail "$(cat studies.yaml)"
if grep 'label: other' studies.yaml | grep -q tokenizer; then fail "a tokenizer for the GGUF"; fi

# --- what cannot be read is left out, and said
mkdir -p bad/broken bad/good
cp -r "$demo/nano-llama/." bad/good
cp "$demo/nano-llama/config.json" bad/broken
: >bad/broken/model.safetensors
cp "$demo/tokenizer.json" bad
expect 0 "$QKSCOPE" init bad --text "my text.jsonl"
says "1 that cannot be read is left out"
grep -q '# left out: broken: ' bad/study.yaml || fail "$(cat bad/study.yaml)"
mv bad/broken bad/$'new\nmodels: []' && rm bad/study.yaml # a name that would be a line of its own
expect 0 "$QKSCOPE" init bad --text "my text.jsonl"
if grep -q '^models: \[\]' bad/study.yaml; then fail "$(cat bad/study.yaml)"; fi
expect 0 "$QKSCOPE" check bad/study.yaml

# --- the Hugging Face cache: revisions by name
commit=0123456789012345678901234567890123456789
repository=cache/models--org--nano
mkdir -p $repository/refs $repository/snapshots
cp -r "$demo/S1-60" $repository/snapshots/$commit
cp -r "$demo/S1-600" $repository/snapshots/${commit//0/a}
printf %s $commit >$repository/refs/step-60
printf %s ${commit//0/a} >$repository/refs/step-600
expect 0 env HF_HUB_CACHE="$PWD/cache" "$QKSCOPE" init $repository --text "my text.jsonl" \
    --tokenizer "$demo/tokenizer.json" --out cached.yaml
grep -q '{label: step-600, model: org/nano, revision: step-600}' cached.yaml ||
    fail "$(cat cached.yaml)"
equal "$(labels cached.yaml)" "step-60 step-600 "
expect 0 env HF_HUB_CACHE="$PWD/cache" "$QKSCOPE" check cached.yaml

# --- nothing there
mkdir empty
expect 1 "$QKSCOPE" init empty --text "my text.jsonl"
says "no checkpoint in"
expect 1 "$QKSCOPE" init none
says "there is no 'none'"
expect 2 "$QKSCOPE" init run --out new.yaml --kind trainings
says "kind is training or models"
[ ! -e new.yaml ] || fail "a failed init left a file"
