#!/usr/bin/env bash
# capture: moments and kept vectors of one run agree, broken checkpoints are refused, documents that
# cannot be used are counted, heads and positions are drawn as asked.
. "$(dirname "$0")/lib.bash"
demo=$tests/../demo
compare() { python3 "$tests/cli/compare.py" "$@" || fail "tables differ: $1 $2"; }

# r from streamed moments and r from the kept vectors of the same run, to 1e-6
"$QKSCOPE" capture "$demo/nano-qwen3" --tokenizer "$demo/tokenizer.json" --text "$demo/text.jsonl" \
    --limit 6 --max-length 256 --keep both --out both 2>/dev/null
"$QKSCOPE" analyze both --out from-moments 2>/dev/null
mkdir vectors
cp -r both/l* both/README.md vectors/
"$QKSCOPE" analyze vectors --plasticity none --out from-vectors 2>/dev/null
compare from-moments/qk.csv from-vectors/qk.csv --key model,layer,head,pc \
    --abs 1e-6 explained_variance,r_q,r_k

# every broken checkpoint is refused in one line that names the file or folder
echo '{"input_ids": [1, 2, 3, 4]}' >ids.jsonl
for broken in "$tests"/data/broken/*/; do
    expect 1 "$QKSCOPE" capture "$broken" --text ids.jsonl --out refused
    one_line
    says "$(basename "$broken")"
    [ ! -e refused/units ] || fail "$broken left something"
done

# documents that cannot be used
printf '%s\n' '{"id": "a", "input_ids": [1, 2, 3, 4, 5]}' '{"id": "b", "input_ids": [1]}' \
    '{"id": "c", "input_ids": [7, 8, 9]}' >mixed.jsonl
expect 0 "$QKSCOPE" capture "$tests/data/models/llama-gqa" --text mixed.jsonl --max-length 4 --out m
says "2 documents, 7 tokens"
says "1 document longer than the maximum, cut there"
says "1 document shorter than 2 tokens, skipped"
echo '{"input_ids": [1, 999999]}' >outside.jsonl
expect 1 "$QKSCOPE" capture "$tests/data/models/llama-gqa" --text outside.jsonl --out n
says "is the tokenizer this model's?"

# heads and positions
expect 0 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --heads 7 --seed 3 --keep both \
    --sampler uniform --bucket 2 --rate 1 --out drawn
expect 2 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --layers 0,99 --out x
says "is no list of layers"
expect 1 "$QKSCOPE" capture no/such-model --text ids.jsonl --out x
says "hf download no/such-model"
expect 2 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --backend abacus --out x
says "there is no backend 'abacus' here"
