#!/usr/bin/env bash
# Machines that fail: a full disk, a disk that may not be written, a clock that goes backwards, two
# runs at once, too little memory. The message names the place, what was there stays, and the rerun
# on a sound machine gives the bytes of an undisturbed run.
. "$(dirname "$0")/lib.bash"

demo=$tests/../demo
head -4 "$demo/text.jsonl" >text.jsonl
cat >study.yaml <<YAML
name: small
kind: models
text: {path: text.jsonl, column: text, id: id}
capture: {groups: 2, pairs: 8}
defaults: {tokenizer: $demo/tokenizer.json, max_length: 64}
models:
  - {label: a, model: $demo/S1-60}
  - {label: b, model: $demo/LC1-60}
figures: none
YAML
run() { # directory command-before...
    "${@:2}" "$QKSCOPE" run study.yaml --threads 1 --out "$1"
}
expect 0 run whole env
whole() { # directory: it is like the undisturbed one
    same "$1/tables" whole/tables
    equal "$(find "$1" -name '*.part')" ""
}

# --- a full disk: files may not grow beyond a few KiB, on which units fail; then tables
limited() { # KiB command...
    (ulimit -f "$1" && "${@:2}")
}
expect 1 run full limited 8
says "qkscope: all 2 models failed"
says "full/units/"
equal "$(find full -name '*.unit' -o -name '*.csv' -o -name '*.part')" ""
expect 0 run full env
whole full
rm -r full/tables
largest=$(find full/units -name '*.unit' -printf '%k\n' | sort -n | tail -1)
page=$(du -k whole/report.html | cut -f1)
if [ "$page" -gt "$((largest + 8))" ]; then # what does not fit is the page alone
    expect 1 run full limited $((largest + 4))
    says "full/report.html"
    equal "$(find full -name '*.part')" ""
fi

# --- a small disk of its own, and one that is read-only
mkdir disk
if mount -t tmpfs -o size=2m qkscope-test disk 2>/dev/null; then
    trap 'umount "$QKSCOPE_SCRATCH/disk" 2>/dev/null || true' EXIT
    head -c 1990000 /dev/zero >disk/ballast
    code=0
    run disk/run env 2>stderr.txt || code=$?
    err=$(cat stderr.txt)
    equal "$code" 1
    says "disk/run"
    says "No space left on device"
    equal "$(find disk -name '*.unit' -o -name '*.csv' -o -name '*.part')" ""
    rm disk/ballast
    mount -o remount,size=64m disk
    expect 0 run disk/run env
    whole disk/run
    mount -o remount,ro disk
    expect 1 run disk/run env
    one_line
    says "disk/run"
    says "Read-only file system"
    expect 1 "$QKSCOPE" capture "$tests/data/models/llama-gqa" --text text.jsonl --tokenizer \
        "$demo/tokenizer.json" --out disk/new
    says "Read-only file system"
    whole disk/run
    umount disk
    trap - EXIT
else
    echo "no right to mount here: a full and a read-only disk were not tried"
fi

# --- a folder without write permission (root may write anywhere, so another user tries)
mkdir closed
chmod 755 closed
if [ "$(id -u)" -ne 0 ]; then
    as_user=(env)
    chmod 555 closed
elif command -v setpriv >/dev/null && setpriv --reuid 65534 --clear-groups test -x "$QKSCOPE" &&
    setpriv --reuid 65534 --clear-groups test -r study.yaml; then
    as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
else
    as_user=()
    echo "no other user to be: folders without permission were not tried"
fi
if [ ${#as_user[@]} -gt 0 ]; then
    expect 1 "${as_user[@]}" "$QKSCOPE" analyze "$data/dataset" --plasticity none --out "$PWD/closed"
    one_line
    says "Permission denied"
    equal "$(ls -A closed)" ""
fi

# --- a clock that goes backwards
if [ -n "${QKSCOPE_BACKWARDS:-}" ]; then
    equal "$(LD_PRELOAD=$QKSCOPE_BACKWARDS bash -c 'a=$EPOCHSECONDS b=$EPOCHSECONDS; echo $((b < a))')" 1
    expect 0 run clock env LD_PRELOAD="$QKSCOPE_BACKWARDS"
    whole clock
    expect 0 run clock env LD_PRELOAD="$QKSCOPE_BACKWARDS"
    says "4 units: 0 computed, 4 were there"
fi

# --- two runs at once: one works, the other says who does
run both env 2>first.txt &
first=$!
code=0
run both env 2>second.txt || code=$?
other=0
wait $first || other=$?
equal "$((code + other))" 1
cat first.txt second.txt >stderr.txt
err=$(cat stderr.txt)
says "another run works on 'both': process "
whole both

# --- a worker that the kernel ends for want of memory is its model's failure, not the study's
group=
if [ -w /sys/fs/cgroup/memory ] && mkdir "/sys/fs/cgroup/memory/qkscope-$$" 2>/dev/null; then
    group=/sys/fs/cgroup/memory/qkscope-$$
    limit=$group/memory.limit_in_bytes
elif [ -w /sys/fs/cgroup/cgroup.subtree_control ] && mkdir "/sys/fs/cgroup/qkscope-$$" 2>/dev/null; then
    group=/sys/fs/cgroup/qkscope-$$
    limit=$group/memory.max
fi
[ -z "$group" ] || trap 'rmdir "$group"' EXIT
if [ -n "$group" ] && [ -w "$limit" ]; then
    # a document whose hidden states take 328 MB, in a model of 36 MB
    python3 - "$tests/data/models/llama-gqa" <<'PY'
import json, os, pathlib, struct, sys
config = json.loads((pathlib.Path(sys.argv[1]) / "config.json").read_text())
hidden, wide, heads, layers = 4096, 64, 256, 2
config.update(hidden_size=hidden, intermediate_size=wide, num_hidden_layers=layers,
              num_attention_heads=2, num_key_value_heads=2, head_dim=128, vocab_size=1024)
os.mkdir("large")
json.dump(config, open("large/config.json", "w"))
shapes = {"model.embed_tokens": [1024, hidden], "model.norm": [hidden], "lm_head": [1024, hidden]}
for layer in range(layers):
    shapes |= {f"model.layers.{layer}.{name}": shape for name, shape in {
        "input_layernorm": [hidden], "post_attention_layernorm": [hidden],
        **{f"self_attn.{x}_proj": [heads, hidden] for x in "qkv"}, "self_attn.o_proj": [hidden, heads],
        "mlp.gate_proj": [wide, hidden], "mlp.up_proj": [wide, hidden],
        "mlp.down_proj": [hidden, wide]}.items()}
at, header = 0, {}
for name, shape in shapes.items():
    size = 2
    for n in shape:
        size *= n
    header[name + ".weight"] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
    at += size
text = json.dumps(header).encode()
with open("large/model.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text)
    file.truncate(8 + len(text) + at)
PY
    { cat text.jsonl && python3 -c 'print("{\"id\": 9, \"text\": \"" + 20000 * "a " + "\"}")'; } >long.jsonl
    sed 's,model: .*/LC1-60,max_length: 20000\, model: large,; s,text.jsonl,long.jsonl,' study.yaml >large.yaml
    echo $((150 << 20)) >"$limit"
    # shellcheck disable=SC2016 # the inner shell expands them
    expect 3 bash -c 'echo $$ >"$1/cgroup.procs"; exec "$2" run large.yaml --threads 1 --out large-run' \
        bash "$group" "$QKSCOPE"
    says "model 'b' failed: its process was killed by signal 9 (Killed; perhaps there was not enough memory)"
    equal "$(sql large-run/tables "SELECT DISTINCT model FROM qk")" $'model\na'
else
    echo "no right to make a cgroup here: the memory killer was not tried"
fi
