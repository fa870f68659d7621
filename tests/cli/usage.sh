#!/usr/bin/env bash
# Wrong usage is exit 2 with one line that says what to do; what is not there is exit 1; help and
# version are on standard output.
. "$(dirname "$0")/lib.bash"

wrong() { # part arguments...
    local part=$1
    shift
    expect 2 "$QKSCOPE" "$@"
    one_line
    says "$part"
    equal "$out" ""
}

# --- verbs and options that do not exist
wrong "'analyse' is no verb; did you mean 'analyze'?" analyse
wrong "'inspec' is no verb; did you mean 'inspect'?" inspec x
wrong "'xylophone' is no verb; 'qkscope help' lists them" xylophone
wrong "'-x' is no verb" -x
wrong "'xylophone' is no verb" help xylophone
wrong "'analyse' is no verb; did you mean 'analyze'?" help analyse
wrong "'page' is no verb" page
wrong "--sampler has no 'unifrom'; did you mean 'uniform'?" capture x --text y --sampler unifrom
wrong "is no verb" "$(printf 'x%.0s' {1..500})"
wrong "qkscope analyze has no option --tread; did you mean --threads?" analyze x --tread 2 --out y
wrong "qkscope analyze has no option --xylophone; 'qkscope analyze --help' lists them" \
    analyze x --xylophone
wrong "qkscope sql has no option -j" sql x y -j
wrong "--json takes no value" version --json=yes
wrong "--out was given twice" analyze x --out y --out z
wrong "--out needs a value: --out DIR" analyze x --out
wrong "--out needs a value: --out DIR" analyze x --out --threads 2

# --- operands
wrong "usage: qkscope analyze INPUT..." analyze
wrong "usage: qkscope sql DIR QUERY" sql
wrong "usage: qkscope sql DIR QUERY" sql x
wrong "'z' is one too many" sql x y z
wrong "takes nothing; 'x' is one too many" version x
wrong "'y' is one too many" inspect x y
wrong "give --out DIR" analyze x
wrong "give --out FILE" merge x

# --- numbers
for option in --components --context --bucket --groups --plasticity --threads; do
    for number in 0 -1 x 1x 1.5 "" 99999999999999999999; do
        wrong "$option takes a whole number from 1 to" analyze x --out y "$option=$number"
    done
done
wrong "(N|document), not 'documents'" analyze x --out y --groups documents
wrong "--seed takes a whole number from 0 to" merge x --out y --seed -1
wrong "--components takes a whole number" analyze x --out y --components 4097
wrong "a shape and a config were given" analyze x --out y --shape 1/1/1 --config c.json
wrong "a unit file holds a sample of key pairs" merge "$data/dataset" --out y --plasticity all
[ ! -e y ] || fail "wrong usage left output"

# --- what is not there, or is something else
missing() { # part arguments...
    local part=$1
    shift
    expect 1 "$QKSCOPE" "$@"
    one_line
    says "$part"
}
missing "there is no 'none'" analyze none --out y
missing "there is no 'none'" merge none --out y
missing "there is no 'none'" inspect none
missing "'none' is no folder of tables" sql none "SELECT 1"
missing "none.csv" analyze none.csv --out y
missing "none.csv" analyze "$data/expected/qk.csv" --study none.csv --out y
missing "none.json" analyze "$data/dataset" --config none.json --out y
missing "neither a folder of captured vectors nor a unit file" analyze "$tests/cli/usage.sh" --out y
missing "table qk needs" analyze "$data/expected/depth.csv" --shape 3/4/2 --out y
mkdir empty
missing "empty" analyze empty --shape 1/1/1 --out y
: >empty.csv
missing "empty.csv" analyze empty.csv --shape 1/1/1 --out y
[ ! -e y ] || fail "a failed command left output"

# --- help
expect 0 "$QKSCOPE"
all=$out
for way in help --help -h; do
    expect 0 "$QKSCOPE" $way
    equal "$out" "$all"
    equal "$err" ""
done
verbs=$(sed -n 's/^  \([a-z]*\)  .*/\1/p' stdout.txt)
for verb in analyze merge inspect sql version help; do
    [[ " ${verbs//$'\n'/ } " == *" $verb "* ]] || fail "help does not list $verb"
done
for verb in $verbs; do
    expect 0 "$QKSCOPE" "$verb" --help
    [[ $out == "qkscope $verb"* ]] || fail "the help of $verb begins with ${out%%$'\n'*}"
    text=$out
    expect 0 "$QKSCOPE" help "$verb"
    equal "$out" "$text"
    expect 0 "$QKSCOPE" "$verb" x -h # also among other arguments
    equal "$out" "$text"
    awk 'length > 100 { exit 1 }' stdout.txt || fail "the help of $verb has lines of over 100 columns"
done

# --- version
expect 0 "$QKSCOPE" version
[[ $out == "qkscope "[0-9]*DuckDB*OpenBLAS* ]] || fail "version says $out"
equal "$("$QKSCOPE" --version)" "$out"
expect 0 "$QKSCOPE" version --json
python3 - stdout.txt <<'EOF' || fail "version --json"
import json, sys
facts = json.load(open(sys.argv[1]))
sys.exit(not (facts["version"] and facts["parts"]["DuckDB"] and "revision" in facts))
EOF

# --- devices: listed when asked for, and then in JSON too
[[ $out != *devices* ]] || fail "version lists devices unasked"
expect 0 "$QKSCOPE" version --devices
grep -qE '^  CPU +cpu +[0-9.]+ GB ' stdout.txt || fail "no CPU among the devices: $out"
expect 0 "$QKSCOPE" version --devices --json
python3 - stdout.txt <<'EOF' || fail "version --devices --json"
import json, sys
devices = json.load(open(sys.argv[1]))["devices"]
sys.exit(not any(d["name"] == "CPU" and d["kind"] == "cpu" and d["memory"] > 0 for d in devices))
EOF
