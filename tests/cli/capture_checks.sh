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
says "1 document longer than the maximum of 4 tokens, cut there"
says "1 document shorter than 2 tokens, skipped"

# positions that a model does not know, unless its rope was stretched
python3 -c 'print({"input_ids": [1, 2] * 300})' | tr "'" '"' >beyond.jsonl
beyond=("$QKSCOPE" capture "$tests/data/models/llama-gqa" --text beyond.jsonl --out beyond)
expect 0 "${beyond[@]}" --max-length 600
says "1 document longer than the model's context of 512 tokens: it was not trained on such positions"
expect 0 "${beyond[@]}" --max-length 600 --rope-scaling '{"rope_type": "linear", "factor": 2.0}'
[[ $err != *context* ]] || fail "it said: $err"

# texts: files, a folder of them, tables; what is left out is counted in messages and provenance
mkdir texts
printf 'The first text, of some length.' >texts/a.txt
printf 'not UTF-8: \xff' >texts/b.txt
printf 'A second\0one, with a NUL.' >texts/c.txt
: >texts/d.txt
printf 'x' >texts/e.txt
nano=("$QKSCOPE" capture "$demo/nano-qwen3" --tokenizer "$demo/tokenizer.json")
counts() { # unit file: what its provenance says of the corpus
    "$QKSCOPE" inspect "$1" | sed -n 's/.*"corpus": \({[^}]*}\).*/\1/p'
}
expect 0 "${nano[@]}" --text texts --no-special --out folder
says "2 documents, "
says "1 document not UTF-8, skipped"
says "1 document without text, skipped"
says "1 document shorter than 2 tokens, skipped"
[[ $(counts folder/units/group-0000.unit) == '{"documents": 2, "empty": 1, "not_utf8": 1, '*', "too_short": 1, "truncated": 0}' ]] ||
    fail "provenance says: $(counts folder/units/group-0000.unit)"
printf '{"text": "The first text, of some length."}\n{"text": "\xff"}\n{"text": "A second\\u0000one, with a NUL."}\n' >texts.jsonl
mkdir elsewhere
TMPDIR=$PWD/elsewhere expect 0 "${nano[@]}" --text texts.jsonl --no-special --out table
equal "$(ls -A elsewhere)" ""
says "1 document not UTF-8, skipped"
for folder in folder table; do "$QKSCOPE" analyze "$folder" --out "$folder-tables" 2>/dev/null; done
same folder-tables/qk.csv table-tables/qk.csv
expect 0 "${nano[@]}" --text texts/a.txt --out single
says "1 document, "
expect 1 "${nano[@]}" --text texts/d.txt --out nothing
says "'texts/d.txt' has no document of at least 2 tokens: 1 empty, 0 shorter, 0 not UTF-8"
one_line
mkdir -p hollow/texts.txt
expect 1 "${nano[@]}" --text hollow --out nothing
says "folder 'hollow' has no .txt files"
expect 1 "$QKSCOPE" capture "$demo/nano-qwen3" --text texts --out nothing
says "has no tokenizer.json"
expect 1 "$QKSCOPE" capture "$demo/nano-qwen3" --text texts --tokenizer no/such --out nothing
says "hf download no/such"
[ ! -e nothing ] || equal "$(ls -A nothing)" ""
echo '{"input_ids": [1, 999999]}' >outside.jsonl
expect 1 "$QKSCOPE" capture "$tests/data/models/llama-gqa" --text outside.jsonl --out n
says "is the tokenizer this model's?"

# heads and positions
expect 0 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --heads 7 --seed 3 --keep both \
    --sampler uniform --bucket 2 --rate 1 --out drawn
expect 2 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --layers 0,99 --out x
says "is no list of layers"
expect 2 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --rate 2 --out x
says "--rate goes with --sampler uniform or log_uniform"
expect 1 "$QKSCOPE" capture no/such-model --text ids.jsonl --out x
says "hf download no/such-model"
expect 2 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --backend abacus --out x
says "there is no backend 'abacus' here"
for server in rpc:127.0.0.1:1 rpc:nowhere.invalid:1; do
    expect 1 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --backend "$server" --out x
    says "no ggml RPC server answers at '${server#rpc:}'"
    one_line
done
expect 2 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --backend rpc:here --out x
says "write rpc:HOST:PORT"
expect 2 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --max-length 1 --out x
says "position needs 2 tokens"
expect 2 "$QKSCOPE" capture "$tests/data/models/mllama" --text ids.jsonl --layers "" --out x
[ ! -e x ] || equal "$(ls -A x)" ""

# units are there all together or not at all: a capture that fails in its second group leaves what
# was there, and a capture that replaces one of more groups leaves none of those
four() { # out groups more...
    "$QKSCOPE" capture "$tests/data/models/llama-gqa" --text four.jsonl --groups "$2" --out "$1" "${@:3}"
}
printf '{"input_ids": [%s]}\n' 1,2,3 4,5,6 7,8,9 10,11,12 >four.jsonl
expect 0 four whole 4
equal "$(find whole/units -type f | grep -c .)" 4
cp -r whole/units before
printf '{"input_ids": [%s]}\n' 1,2,3 4,5,6 7,8,9 10,11,9999 >four.jsonl
expect 1 four whole 4
same whole/units before
expect 1 four fresh 4
equal "$(ls -A fresh)" .lock
printf '{"input_ids": [%s]}\n' 1,2,3 4,5,6 >four.jsonl
mkdir whole/.units.1-0-1.part # of a capture that was killed
expect 0 four whole 2
equal "$(ls whole/units)" $'group-0000.unit\ngroup-0001.unit'
equal "$(ls -A whole)" $'.lock\nunits'
touch whole/units/notes.txt
expect 1 four whole 2
says "'notes.txt', which is no unit file"
# one at a time
exec {lock}>>whole/.lock
flock $lock
expect 1 four whole 2
says "another run works on 'whole'"
exec {lock}>&-

# a .gguf file's name is its model's, without the ending
expect 0 "$QKSCOPE" capture "$tests/data/gguf/llama-biased.gguf" --text ids.jsonl --out named
expect 0 "$QKSCOPE" analyze named --out named-tables
equal "$(sql named-tables "SELECT DISTINCT model FROM qk")" $'model\nllama-biased'
