#!/usr/bin/env bash
# Broken study files: every fault with its line and column, all at once, before anything is made.
. "$(dirname "$0")/lib.bash"

printf '{"id": 1, "tokens": [1, 2, 3]}\n' >text.jsonl
head='name: x
kind: models
text: {path: text.jsonl}
'

# A study file (from the fourth line on, after a good head) and what is said of it.
faults() { # yaml place-and-phrase...
    printf '%s%b' "$head" "$1" >study.yaml
    refused "${@:2}"
}

refused() { # place-and-phrase...
    expect 2 timeout 20 "$QKSCOPE" "${verb:-check}" study.yaml --out out
    for fault in "$@"; do says "study.yaml:$fault"; done
    equal "$(grep -c '^study.yaml:[0-9]*:[0-9]*: ' stderr.txt)" $#
    equal "$(tail -n 1 stderr.txt)" "qkscope: 'study.yaml' has $# fault$([ $# = 1 ] || echo s)"
    [ ! -e out ] || fail "a study with faults made its directory"
}

good='models: [{label: a, model: m}]\n'

# --- keys
verb=run faults "captur: {}\n$good" "4:1: there is no key 'captur' here; did you mean 'capture'?"
faults "zzzzzzzzzz: 1\n$good" "4:1: there is no key 'zzzzzzzzzz' here"
faults "capture: {sede: 1}\n$good" "4:11: there is no key 'sede' here; did you mean 'seed'?"
faults "models:\n  - {label: a, modle: m}\n" \
    "5:16: there is no key 'modle' here; did you mean 'model'?" "5:5: no model is given for 'a'"
faults "${good}name: y\n" "5:1: key 'name' is here twice"
faults "capture: {seed: 1, seed: 2}\n$good" "4:20: key 'seed' is here twice"
faults "[a, b]: 1\n$good" "4:1: a key must be a plain word"
faults "" "1:1: key 'models' is missing"
faults "models: [{model: m}]\n" "4:10: key 'label' is missing"
faults "models: [{label: a}]\n" "4:10: no model is given for 'a'"

# --- a study of a later format
faults "format: 2\n$good" "4:9: this qkscope reads study files of format 1, not '2'"
faults "format: [1]\n$good" "4:9: this qkscope reads study files of format 1, not '?'"

# --- values
whole="a whole number from 1 to 2147483647 is wanted here"
faults "capture: {groups: 0}\n$good" "4:19: $whole, not '0'"
faults "capture: {groups: -3}\n$good" "4:19: $whole, not '-3'"
faults "capture: {bucket: 1.5}\n$good" "4:19: $whole, not '1.5'"
faults "capture: {heads: 4294967296}\n$good" "4:18: $whole, not '4294967296'"
faults "capture: {heads: 99999999999999999999}\n$good" "4:18: $whole"
faults "capture: {pairs: some}\n$good" "4:18: $whole, not 'some'"
faults "capture: {pairs: \"3\\\\n4\"}\n$good" "4:18: $whole, not '3 4'"
faults "capture: {seed: -1}\n$good" "4:17: a whole number of at least 0 is wanted here"
faults "capture: {rate: nan}\n$good" "4:17: a positive number is wanted here"
faults "capture: {rate: 0}\n$good" "4:17: a positive number is wanted here"
faults "capture: {sampler: some}\n$good" "4:20: a sampler is all, uniform or log_uniform"
faults "capture: {pre_rope: yes}\n$good" "4:21: true or false is wanted here"
faults "capture: [1]\n$good" "4:10: a mapping (key: value) is wanted here"
faults "capture: {layers: [1]}\n$good" "4:19: a text is wanted here"
faults "capture: {layers: null}\n$good" "4:19: a text is wanted here"
faults "defaults: 3\n$good" "4:11: a mapping (key: value) is wanted here"
faults "defaults: {rope_scaling: 3}\n$good" "4:26: rope_scaling is a mapping as in config.json"
faults "models: {label: a}\n" "4:9: models is a list"
faults "models: []\n" "4:9: 0 models; a study has 1 to 10000"
faults "models: [a]\n" "4:10: a mapping (key: value) is wanted here" "4:10: no model is given for '?'"
faults "models: [{label: a, model: m, max_length: 0}]\n" "4:43: $whole, not '0'"
faults "models: [{label: '', model: m}]\n" "4:18: a label has 1 to 300 bytes, not 0"
faults "models: [{label: $(printf 'a%.0s' {1..301}), model: m}]\n" "4:18: a label has 1 to 300 bytes"
faults "models: [{label: \"a\\\\0b\", model: m}]\n" "4:18: a text may not hold the character NUL"
faults "capture: {seed: \"5\\\\0x\"}\n$good" "4:17: a whole number"
faults "\"capture\\\\0x\": {}\n$good" "4:1: a key must be a plain word"
faults "${good}figures: some\n" "5:10: a list is wanted here"
faults "${good}portraits: a\n" "5:12: a list is wanted here"

# --- names that do not go together
faults "models:\n  - {label: a, model: m}\n  - {label: a, model: n}\n" \
    "6:13: two models have the label 'a'"
faults "models:\n  - {label: A b, model: m}\n  - {label: a/b, model: n}\n" \
    "6:13: labels 'A b' and 'a/b' give the same folder name; change one"
faults "${good}portraits: [b]\n" "5:13: portraits: no model is called 'b'"
faults "models: [{label: S1-40K, model: m}]\nportraits: [S1-40]\n" \
    "5:13: portraits: no model is called 'S1-40'; did you mean 'S1-40K'?"
faults "${good}portraits: [a, a]\n" "5:12: portraits: 2 of 1 models"

# --- the head itself
head=
faults "name: x\nkind: other\ntext: {path: text.jsonl}\n$good" "2:7: kind is training or models"
faults "name: x\nkind: models\ntext: {path: none.jsonl}\n$good" "3:14: text: there is no './none.jsonl'"
faults "name: x\nkind: models\ntext: text.jsonl\n$good" "3:7: a mapping (key: value) is wanted here"
faults "name: x\nkind: models\ntext: {column: text}\n$good" "3:7: key 'path' is missing"
faults "name: [x]\nkind: models\ntext: {path: text.jsonl}\n$good" "1:7: a text is wanted here"

# --- a folder whose name is no text is a folder all the same
mkdir $'odd\xff'
cp text.jsonl $'odd\xff/'
printf 'name: x\nkind: models\ntext: {path: text.jsonl}\nmodels: [{label: a, model: none}]\n' >$'odd\xff/study.yaml'
(cd $'odd\xff' && expect 2 "$QKSCOPE" check study.yaml && says "1 of 1 models cannot be run")
(cd $'odd\xff' && expect 1 "$QKSCOPE" run study.yaml --out out && grep -q 'text: {path: "./text.jsonl"' out/study.resolved.yaml)
rm -r $'odd\xff'

# --- all at once
verb=run faults "nam: x\nkind: some\ntext: {path: no.jsonl, limit: x}\ncapture: {seed: x}\nmodels: [{label: a}]\n" \
    "1:1: there is no key 'nam' here; did you mean 'name'?" "1:1: key 'name' is missing" \
    "2:7: kind is training or models" "3:31: $whole, not 'x'" "3:14: text: there is no './no.jsonl'" \
    "4:17: a whole number of at least 0 is wanted here" "5:10: no model is given for 'a'"

# --- what is no study at all
faults "" "1:1: the file is empty"
faults "# nothing\n" "1:1: the file is empty"
faults "just words\n" "1:1: a mapping (key: value) is wanted here"
faults "name: x\nkind: [models\n" "3:1: did not find expected ',' or ']'"
faults "name: x\n\tkind: models\n" "2:1: found a tab character that violates indentation"
faults "name: \x01x\n" "1:7: control characters are not allowed"
faults "name: x\nkind: \xff\n" "2:7: invalid leading UTF-8 octet"
faults "name: *missing\n" "1:7: found undefined alias"
faults "{name: x, kind: models, text: {path: text.jsonl}, models: [{label: a, model: m}]}\n---\nname: y\n" \
    "3:1: a second document begins here; a study is one"
head -c 4096 "$tests/../demo/S1-60/model.safetensors" >study.yaml
refused "1:"
printf 'name: x\0y\n' >study.yaml
refused "1:8: control characters are not allowed"
expect 2 "$QKSCOPE" run none.yaml
says "none.yaml"
expect 2 "$QKSCOPE" run "$QKSCOPE_SCRATCH"
one_line

# --- files that ask for much
python3 - <<'PY'
bomb = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10))
open("bomb.yaml", "w").write(bomb)
open("loop.yaml", "w").write("name: &a [*a]\n")
open("deep.yaml", "w").write("name: " + "[" * 20 + "]" * 20)
open("deeper.yaml", "w").write("name: " + "[" * 500000)
good = "name: x\nkind: models\ntext: {path: text.jsonl}\n"
open("models.yaml", "w").write(good + "models: [" + "{}," * 20000 + "]\n")
open("labels.yaml", "w").write(
    good + "models: [" + ",".join(f"{{label: l{i}, model: m}}" for i in range(9999)) + "]\n"
    + "portraits: [" + "a," * 100000 + "]\n")
open("many.yaml", "w").write(good + "models: [{label: a, model: m}]\n"
                             + "".join(f"k{i}: 1\n" for i in range(20000)))
open("large.yaml", "w").write("#" * (2 << 20))
PY
much() { # file place-and-phrase
    expect 2 timeout 20 "$QKSCOPE" check "$1"
    says "$2"
}
much bomb.yaml "aliases multiply to more than 1048576 values"
much loop.yaml "loop.yaml:1:7: this is nested too deeply"
much deep.yaml "deep.yaml:1:23: this is nested too deeply"
much deeper.yaml "deeper.yaml:1:23: this is nested too deeply"
much models.yaml "models.yaml:4:9: 20000 models; a study has 1 to 10000"
much labels.yaml "labels.yaml:5:12: portraits: 100000 of 9999 models"
much many.yaml "many.yaml: more faults than 100; the rest is not shown"
says "has 20000 faults"
much large.yaml "large.yaml"
