#!/usr/bin/env bash
# What reads weights can do no harm: nothing in a model's folder is run, and the process has given up
# writing elsewhere, programs and the network, as far as the kernel offers that.
. "$(dirname "$0")/lib.bash"

demo=$tests/../demo
echo '{"input_ids": [1, 2, 3, 4]}' >ids.jsonl

# --- a folder full of things that other programs would run
mkdir bin
cp -r "$tests/data/models/llama-gqa" model
python3 - <<'PY'
import json, os, pickle
class Bomb:
    def __reduce__(self):
        return os.system, ("touch \"$PWD\"/pwned",)
for name in ("pytorch_model.bin", "training_args.bin", "optimizer.pt", "model.ckpt"):
    with open("model/" + name, "wb") as file:
        pickle.dump(Bomb(), file)
config = json.load(open("model/config.json"))
config["auto_map"] = {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Model"}
config["trust_remote_code"] = True
json.dump(config, open("model/config.json", "w"))
json.dump({"auto_map": {"AutoTokenizer": ["evil.Tokenizer", None]}, "chat_template": "{{ evil() }}"},
          open("model/tokenizer_config.json", "w"))
open("model/evil.py", "w").write("open('pwned', 'w')\n")
for name in (".gnuplot", "gnuplotrc"):
    open("model/" + name, "w").write("system 'touch pwned'\n")
for name in ("gnuplot", "sh", "python3", "git", "hf", "fc-match"):
    path = "model/" + name
    open(path, "w").write("#!/bin/sh\ntouch \"$PWD/pwned\"\n")
    os.chmod(path, 0o755)
open("model/libggml-evil.so", "w").write("no library")
PY
(cd model && "$QKSCOPE" capture . --text ../ids.jsonl --out ../out 2>../stderr.txt) || fail "$(cat stderr.txt)"
expect 0 "$QKSCOPE" capture "$tests/data/models/llama-gqa" --text ids.jsonl --model . --out plain
expect 0 "$QKSCOPE" analyze out --model m --out out-tables
expect 0 "$QKSCOPE" analyze plain --model m --out plain-tables
compare out-tables/qk.csv plain-tables/qk.csv --key layer,head,pc --abs 0 r_q,r_k,explained_variance
equal "$(find . -name pwned)" ""

# --- what the kernel offers is said, and taken
isolation=$("$QKSCOPE" version --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["parts"]["isolation"])')
echo "isolation: $isolation"
equal "$(QKSCOPE_ISOLATION=none "$QKSCOPE" version | grep -c 'isolation  none ')" 1
cat >study.yaml <<YAML
name: small
kind: models
text: {path: $demo/text.jsonl, column: text, id: id, limit: 6}
capture: {groups: 6, pairs: 8}
defaults: {tokenizer: $demo/tokenizer.json, max_length: 1024}
models:
  - {label: a, model: $demo/S1-60}
figures: none
YAML
status_of_worker() { # environment...: what the kernel says of the worker while it computes
    rm -rf run
    : >events.txt
    env "$@" "$QKSCOPE" run study.yaml --threads 1 --out run --json >events.txt 2>stderr.txt &
    pid=$!
    until grep -q '"unit"' events.txt; do sleep 0.002; done
    awk '/^(NoNewPrivs|Seccomp):/ { printf "%s%s ", $1, $2 }' "/proc/$(pgrep -P $pid)/status" || true
    wait $pid || fail "$(cat stderr.txt)"
}
if [[ $isolation == *seccomp* ]]; then
    equal "$(status_of_worker A=b)" "NoNewPrivs:1 Seccomp:2 "
    equal "$(status_of_worker QKSCOPE_ISOLATION=none)" "NoNewPrivs:0 Seccomp:0 "
fi

# --- a remote device needs the network, and has it; elsewhere it is still closed
python3 - >port.txt <<'PY' &
import socket
s = socket.create_server(("127.0.0.1", 0))
s.settimeout(30)
print(s.getsockname()[1], flush=True)
s.accept()[0].close()
print("connected", flush=True)
PY
server=$!
until [ -s port.txt ]; do sleep 0.01; done
code=0
timeout 60 "$QKSCOPE" capture "$tests/data/models/llama-gqa" --text ids.jsonl --out remote \
    --backend "rpc:127.0.0.1:$(head -1 port.txt)" 2>stderr.txt || code=$?
[ "$code" -ne 0 ] || fail "a device that hangs up gave a result"
wait $server || fail "the remote device was never called: $(cat stderr.txt)"
grep -q connected port.txt || fail "the remote device was never called: $(cat stderr.txt)"
