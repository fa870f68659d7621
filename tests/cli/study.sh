#!/usr/bin/env bash
# Studies: finished units are kept, changed ones redone, and the tables are the same to the last
# byte whatever interrupted the run and however many ranks it had. What fails, fails alone.
. "$(dirname "$0")/lib.bash"

demo=$tests/../demo
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

head -6 "$demo/text.jsonl" >text.jsonl
write_study() { # file: the study, with what the variables below say
    cat >"$1" <<YAML
name: small
kind: training
text: {path: ${text:-text.jsonl}, column: text, id: id}
capture: {groups: 3, pairs: 8}
defaults: {tokenizer: $demo/tokenizer.json, max_length: ${length:-128}}
models:
  - {label: early, phase: one, model: $demo/S1-60, rope_theta: 10000}
  - {label: late, phase: two, model: ${late:-$demo/LC1-60}, max_length: ${late_length:-128}}
figures: none
YAML
}
write_study small.yaml

program=("$QKSCOPE" run small.yaml --threads 1 --out)
run() { # directory more...
    "$QKSCOPE" run "${study:-small.yaml}" --out "$1" --threads 1 "${@:2}"
}
alive() { # process: and not just waiting for its funeral
    [ -n "$1" ] && [ "$(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null || echo Z)" != Z ]
}
units() { # directory: every unit file with inode and time of change
    mkdir -p "$1/units"
    find "$1/units" -name '*.unit' -printf '%P %i %T@\n' | sort
}
kept() { # before after: lines of the first that are in the second, too
    comm -12 <(echo "$1") <(echo "$2") | grep -c . || true
}
worker_of() { # process: its worker, waited for
    for _ in {1..400}; do
        pgrep -P "$1" && return
        sleep 0.005
    done
}

# --- a run, and again
expect 0 run whole
says "6 units: 6 computed, 0 were there; results are in whole"
for table in qk heads depth trajectory findings; do
    [ -s whole/tables/$table.csv ] || fail "there is no table $table"
done
no_nan whole/tables
equal "$(sql whole/tables "SELECT DISTINCT model FROM trajectory ORDER BY 1")" $'model\nearly\nlate'
before=$(units whole)
cp -r whole/tables first
expect 0 run whole
says "6 units: 0 computed, 6 were there"
equal "$(units whole)" "$before"
same whole/tables first

# --- check says what there is
expect 0 "$QKSCOPE" check small.yaml --out whole
[[ $out == *early*3/3*late*3/3* && $out != *"to do"* ]] || fail "check: $out"
expect 0 "$QKSCOPE" check small.yaml --out nothing
[[ $out == *early*0/3*late*0/3*"to do    about "*" of forward passes"* ]] || fail "check: $out"
[ ! -e nothing ] || fail "check made the run's directory"
expect 0 "$QKSCOPE" check small.yaml --json
python3 -c 'import json, sys; m = json.load(open("stdout.txt"))["models"]
sys.exit([(x["label"], x["units"], x["units_done"], x["status"], x["seconds_to_do"] > 0) for x in m]
         != [("early", 3, 0, "to do", True), ("late", 3, 0, "to do", True)])' || fail "check --json: $out"

# --- the resolved study is a study, from any folder
expect 0 run whole/again --json
python3 - <<'PY' || fail "events: $(cat stdout.txt)"
import json, sys
events = [json.loads(line) for line in open("stdout.txt")]
assert events[0] == {"event": "plan", "models": 2, "units": 6, "done": 0}, events[0]
assert [e["event"] for e in events[-2:]] == ["tables", "report"], events[-2:]
units = [(e["model"], e["group"]) for e in events if e["event"] == "unit"]
sys.exit(sorted(units) != [(m, g) for m in ("early", "late") for g in range(3)])
PY
(cd / && "$QKSCOPE" run "$QKSCOPE_SCRATCH/whole/study.resolved.yaml" \
    --out "$QKSCOPE_SCRATCH/whole" 2>"$QKSCOPE_SCRATCH/resolved.txt") || fail "$(cat resolved.txt)"
grep -q '6 units: 0 computed' resolved.txt || fail "$(cat resolved.txt)"
same whole/tables first
cp whole/study.resolved.yaml resolved.yaml
equal "$(head -1 resolved.yaml)" "format: 1"
expect 0 "$QKSCOPE" check resolved.yaml --out whole
[[ $out == *late*3/3* ]] || fail "the resolved study has other units: $out"

# --- ranks
if command -v mpirun >/dev/null; then
    for ranks in 2 3; do
        mkdir -p scratch$ranks
        TMPDIR=$PWD/scratch$ranks expect 0 timeout 60 mpirun --oversubscribe -n $ranks \
            "$QKSCOPE" run small.yaml --out ranks$ranks --threads 1
        says "6 units: 6 computed"
        equal "$(find scratch$ranks -name 'qkscope-*')" "" # where the ranks made their units
        same ranks$ranks/tables first
        expect 0 timeout 60 mpirun --oversubscribe -n $ranks \
            "$QKSCOPE" run small.yaml --out ranks$ranks --threads 1
        says "6 units: 0 computed"
    done
    # what ends rank 0 early ends all
    expect 2 timeout 60 mpirun --oversubscribe -n 2 "$QKSCOPE" run /dev/null --out none
    says "/dev/null"
    exec {lock}>ranks2/.lock
    flock $lock
    expect 1 timeout 60 mpirun --oversubscribe -n 2 "$QKSCOPE" run small.yaml --out ranks2
    says "another run works on 'ranks2'"
    exec {lock}>&-
else
    echo "mpirun is not here: ranks are not tested"
fi

# --- killed at any moment, with its worker: the next run goes on
mkdir killed
for moment in 0.02 0.1 0.2 0.3 0.45; do
    "${program[@]}" killed 2>/dev/null &
    pid=$!
    sleep "$moment"
    worker=$(pgrep -P $pid || true)
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    for _ in {1..200}; do # the kernel needs a moment
        alive "$worker" || break
        sleep 0.01
    done
    if alive "$worker"; then fail "the worker lives on"; fi
    before=$(units killed)
    expect 0 "$QKSCOPE" check small.yaml --out killed
    equal "$(kept "$before" "$(units killed)")" "$(grep -c . <<<"$before" || true)"
done
before=$(units killed)
n=$(grep -c . <<<"$before" || true)
mkdir -p killed/units/early killed/figures/.07-position_signal.1-0-1.part
touch killed/figures/.07-position_signal.1-0-1.part/figure.png
touch killed/.manifest.json.1-0-1.part killed/units/early/.00.unit.1-0-1.part
expect 0 run killed
says "6 units: $((6 - n)) computed, $n were there"
equal "$(kept "$before" "$(units killed)")" "$n"
same killed/tables first
equal "$(find killed -name '*.part')" ""

# --- one run at a time
exec {lock}>>whole/.lock
flock $lock
expect 1 run whole
says "another run works on 'whole': process "
one_line
exec {lock}>&-

# --- Ctrl-C keeps what is finished
set -m # a process group of its own, as a terminal gives it
"${program[@]}" stopped --json >events.txt 2>stderr.txt &
pid=$!
set +m
until grep -q '"unit"' events.txt; do sleep 0.005; done
kill -INT -- -$pid
code=0
wait $pid || code=$?
equal $code 130
grep -q 'interrupted; finished units are kept' stderr.txt || fail "$(cat stderr.txt)"
before=$(units stopped)
n=$(grep -c . <<<"$before")
[ "$n" -ge 1 ] || fail "Ctrl-C lost the finished unit"
expect 0 run stopped
says "6 units: $((6 - n)) computed, $n were there"
equal "$(kept "$before" "$(units stopped)")" "$n"
same stopped/tables first

# --- what changed is redone, the rest is kept
before=$(units whole)
late_length=96 write_study changed.yaml
study=changed.yaml expect 0 run whole
says "6 units: 3 computed, 3 were there"
equal "$(kept "$before" "$(units whole)")" 6
python3 - <<'PY' # one of six documents, so one of three groups
import json
rows = [json.loads(line) for line in open("text.jsonl")]
rows[3]["text"] = "Another beginning. " + rows[3]["text"]
open("other.jsonl", "w").writelines(json.dumps(r) + "\n" for r in rows)
PY
text=other.jsonl write_study changed.yaml
study=changed.yaml expect 0 run whole
says "6 units: 2 computed, 4 were there"
if cmp -s whole/tables/qk.csv first/qk.csv; then fail "another text gave the same tables"; fi
expect 0 run whole
says "6 units: 0 computed, 6 were there"
same whole/tables first

# --- damaged units are computed again
damage() { # how: a Python expression of the bytes b
    file=$(find killed/units/early -name '*.unit' | sort | head -1)
    python3 - "$file" "$1" <<'PY'
import sys
b = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(eval(sys.argv[2]))
PY
    expect 0 run killed
    says "6 units: 1 computed, 5 were there"
    same killed/tables first
}
damage 'bytes([b[0] ^ 1]) + b[1:]'
damage 'b[:40] + bytes([b[40] ^ 255]) + b[41:]'
damage 'b[:-100] + bytes([b[-100] ^ 1]) + b[-99:]'
damage 'b[:len(b) // 2]'
damage 'b""'

# --- a broken checkpoint fails alone
late=$tests/data/broken/missing-tensor write_study broken.yaml
study=broken.yaml expect 3 run broken --json
says "qkscope: model 'late' failed: "
says "1 of 2 models failed; the rest is in broken"
grep -q '"event":"failed","model":"late"' stdout.txt || fail "no event of the failure: $out"
equal "$(sql broken/tables "SELECT DISTINCT model FROM qk")" $'model\nearly'
manifest() { # directory python-expression of the manifest's models by label
    python3 -c 'import json, sys
m = {x["label"]: x for x in json.load(open(sys.argv[1]))["models"]}
sys.exit(not eval(sys.argv[2]))' "$1/manifest.json" "$2" || fail "$1/manifest.json: $2"
}
manifest broken 'm["early"]["status"] == "done" and m["late"]["status"] == "failed"'
manifest broken '"tensor" in m["late"]["reason"]'
expect 2 "$QKSCOPE" check broken.yaml --out broken
says "1 of 2 models cannot be run"
late=$tests/data/broken/none write_study broken.yaml
study=broken.yaml expect 3 run broken
says "model 'late' failed: "
sed 's/^figures:.*/figures: [phase_portraits]\nportraits: [late, early]/' broken.yaml >portraits.yaml
study=portraits.yaml expect 3 run portraits # a portrait of what failed is left out
[ -s portraits/figures/12-phase_portraits/figure.png ] || fail "no portrait of the model that is there"
sed "s,$demo/S1-60,$tests/data/broken/none," broken.yaml >hopeless.yaml
study=hopeless.yaml expect 1 run hopeless
says "all 2 models failed"
[ ! -e hopeless/tables ] || fail "tables of nothing"

# --- a worker that dies takes its own model with it only
for signal in KILL ABRT; do
    code=0
    for _ in {1..30}; do # on a busy machine the run may be over before the kill comes: try again
        rm -rf dying
        "${program[@]}" dying --json >events.txt 2>stderr.txt &
        pid=$!
        until grep -q '"unit"' events.txt; do sleep 0.002; done
        worker=$(worker_of $pid)
        [ -z "$worker" ] || kill -$signal "$worker" 2>/dev/null || true
        code=0
        wait $pid || code=$?
        [ "$code" -ne 0 ] && break
    done
    err=$(cat stderr.txt)
    equal $code 3
    says "its process was killed by signal $(kill -l $signal)"
    manifest dying '[x["status"] for x in m.values()].count("failed") == 1'
    equal "$(find dying -name '*.part')" "" # what it was writing
    expect 0 run dying
    same dying/tables first
done
