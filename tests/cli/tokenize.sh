#!/usr/bin/env bash
# qkscope tokenize: every golden text through the program, and what a row's id becomes.
. "$(dirname "$0")/lib.bash"

# --- the goldens, with and without what the post-processor adds
same_ids() { # expected.jsonl member
    python3 - "$1" "$2" stdout.txt <<'EOF' || fail "$1: other $2"
import json, sys
expected = [json.loads(line) for line in open(sys.argv[1])]
actual = [json.loads(line) for line in open(sys.argv[3])]
assert len(actual) == len(expected) > 0, (len(actual), len(expected))
for i, (row, got) in enumerate(zip(expected, actual)):
    assert got == {"id": i, "ids": row[sys.argv[2]]}, row["name"]
EOF
}

for folder in "$tests"/data/tokenizers/*/ "$tests"/data/tokenizers_gguf/*/; do
    tokenizer=$folder
    [ -e "$folder/vocab.gguf" ] && tokenizer=$folder/vocab.gguf
    expect 0 "$QKSCOPE" tokenize "$tokenizer" --text "$folder/expected.jsonl"
    same_ids "$folder/expected.jsonl" ids
    expect 0 "$QKSCOPE" tokenize "$tokenizer" --text "$folder/expected.jsonl" --no-special
    same_ids "$folder/expected.jsonl" ids_no_special
done

# --- broken tokenizers: one line that names the file, and no ids
for folder in "$tests"/data/tokenizers_broken/*/; do
    folder=${folder%/}
    python3 -c 'import json, sys; json.dump({"text": json.load(open(sys.argv[1]))["text"]},
                open("text.jsonl", "w"))' "$folder/case.json"
    expect 1 timeout 20 "$QKSCOPE" tokenize "$folder" --text text.jsonl
    one_line
    says "$(basename "$folder")/tokenizer.json"
    equal "$out" ""
done

# --- ids: numbers stay numbers, texts are quoted, row numbers stand in
gpt2=$tests/data/tokenizers/gpt2
ids() { # arguments
    expect 0 "$QKSCOPE" tokenize "$gpt2" "$@"
    python3 -c 'import json, sys; print(*(json.dumps(json.loads(line)["id"]) for line in sys.stdin))' \
        <stdout.txt >ids.txt
    out=$(cat ids.txt)
}
cat >rows.jsonl <<'EOF'
{"id": 42, "name": "x", "text": "one", "body": "two"}
{"id": "42", "name": "a \"quoted\"\nname", "text": "one", "body": "two"}
{"id": -3, "name": "é", "text": "", "body": "two"}
EOF
ids --text rows.jsonl
equal "$out" '42 "42" -3'
ids --text rows.jsonl --id name
equal "$out" '"x" "a \"quoted\"\nname" "\u00e9"'
ids --text rows.jsonl --limit 1 --column body
equal "$out" "42"
printf 'text\n"a, b"\nc\n' >rows.csv
ids --text rows.csv
equal "$out" "0 1"

# --- text files, alone and in a folder; ready tokens as they are
mkdir texts
printf 'one' >texts/b.txt
printf 'two\0three' >texts/a.txt
ids --text texts
equal "$out" "0 1"
ids --text texts/a.txt
equal "$out" "0"
echo '{"input_ids": [7, 8, 9]}' >ready.jsonl
expect 0 "$QKSCOPE" tokenize "$gpt2" --text ready.jsonl
equal "$out" '{"id": 0, "ids": [7, 8, 9]}'

# --- a text that is not UTF-8 is left out, and that is said
printf 'bad \xff' >texts/c.txt
expect 3 "$QKSCOPE" tokenize "$gpt2" --text texts
equal "$(wc -l <stdout.txt)" 2
says "1 text not UTF-8, left out"

# --- usage, missing things, and a full disk
expect 2 "$QKSCOPE" tokenize "$gpt2"
says "--text CORPUS"
expect 2 "$QKSCOPE" tokenize --text texts
expect 1 "$QKSCOPE" tokenize nowhere --text texts
says nowhere
expect 1 "$QKSCOPE" tokenize "$gpt2" --text nowhere.jsonl
says nowhere.jsonl
expect 2 "$QKSCOPE" tokenize "$gpt2" --text texts --column body
says "without columns"
if [ -e /dev/full ]; then
    code=0
    "$QKSCOPE" tokenize "$gpt2" --text rows.jsonl >/dev/full 2>stderr.txt || code=$?
    equal "$code" 1
fi
