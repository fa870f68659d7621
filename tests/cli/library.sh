#!/usr/bin/env bash
# The installed library: its headers stand alone in C and C++, its names all begin with qks_, the
# examples build against it by pkg-config and by CMake, shared and static, and print what the
# program's tables say.
. "$(dirname "$0")/lib.bash"

build=$(dirname "$QKSCOPE")
examples=$tests/../examples
prefix=$PWD/prefix
sanitize=$(sed -n 's/^QKSCOPE_SANITIZE:[A-Z]*=\(..*\)/-fsanitize=\1/p' "$build/CMakeCache.txt")
flags=(-Wall -Wextra -Wpedantic -Werror ${sanitize:+"$sanitize"})
cmake --install "$build" --prefix "$prefix" >install.log || fail "install: $(cat install.log)"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name qkscope.pc)")
libraries=$(dirname "$PKG_CONFIG_PATH")

# --- headers
for header in "$prefix"/include/qkscope/*.h; do
    name=qkscope/$(basename "$header")
    printf '#include "%s"\n#include "%s"\n' "$name" "$name" | tee one.c >one.cpp
    gcc -std=c11 "${flags[@]}" -I"$prefix/include" -fsyntax-only one.c || fail "$name in C"
    g++ -std=c++11 "${flags[@]}" -I"$prefix/include" -fsyntax-only one.cpp || fail "$name in C++"
    grep -q "$name" "$prefix/include/qkscope/qkscope.h" || [ "$name" = qkscope/qkscope.h ] ||
        fail "qkscope.h leaves out $name"
done

# --- names; OpenMP names the lock of a critical section itself
nm --dynamic --defined-only "$libraries/libqkscope.so" | awk '{ print $NF }' >names.txt
nm --extern-only --defined-only "$libraries/libqkscope.a" | awk 'NF == 3 { print $3 }' >>names.txt
strange=$(grep -vE '^(qks_|\.gomp_critical_user_qks_)' names.txt || true)
[ -z "$strange" ] || fail "names that do not begin with qks_: $strange"
grep -rhoE '\bqks_[a-z0-9_]+\(' "$prefix/include" | tr -d '(' | sort -u >declared.txt
while read -r name; do
    [ "$(grep -cx "$name" names.txt)" -eq 2 ] || fail "$name is declared, but not in both libraries"
done <declared.txt
[ "$(wc -l <declared.txt)" -gt 40 ] || fail "only $(wc -l <declared.txt) functions are declared"

# --- by pkg-config
for example in capture_head own_vectors; do
    [ "$(wc -l <"$examples/$example.c")" -lt 60 ] || fail "$example.c has 60 lines or more"
    # shellcheck disable=SC2046 # several words
    gcc -std=c11 "${flags[@]}" "$examples/$example.c" -o $example \
        $(pkg-config --cflags --libs qkscope) -Wl,-rpath,"$libraries" || fail "$example, pkg-config"
    # shellcheck disable=SC2046
    gcc -std=c11 "${flags[@]}" "$examples/$example.c" -o ${example}_static \
        $(pkg-config --cflags --libs qkscope-static) || fail "$example, pkg-config static"
done
readelf -d own_vectors | grep -q 'libqkscope.so.0' || fail "own_vectors is not linked dynamically"
if readelf -d own_vectors_static | grep -q 'libqkscope.so'; then
    fail "own_vectors_static is not static"
fi

# --- by find_package
cmake -S "$examples" -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="${flags[*]}" \
    >cmake.log 2>&1 || fail "CMake: $(cat cmake.log)"
cmake --build cmake >>cmake.log 2>&1 || fail "CMake: $(cat cmake.log)"

# --- what they print
expect 0 ./own_vectors
# By hand: slope^2 var(t) against noise of 1/12 gives r_q = 0.894 and r_k = -0.707.
awk '{ exit !($5 > 0.88 && $5 < 0.91 && $9 > -0.73 && $9 < -0.68 && $7 > 0 && $11 > 0) }' \
    stdout.txt || fail "own_vectors says $out"
for way in ./own_vectors_static cmake/own_vectors cmake/own_vectors_static; do
    equal "$($way)" "$out"
done

model=$tests/data/models/llama-gqa
python3 - >ids.jsonl <<'PYTHON'
import json
for document in range(6):
    ids = [(7 * i * i + 3 * document * i + document) % 64 for i in range(120)]
    print(json.dumps({"id": document, "input_ids": ids}))
PYTHON
expect 0 ./capture_head "$model" ids.jsonl 1 2 one
first=$out
[[ $first == "layer 1, head 2: "* ]] || fail "capture_head says $first"
printed=$(awk '$1 == "0" { print $3, $6 }' stdout.txt)
equal "$(find one/units -name '*.unit' | wc -l)" 6
equal "$("$QKSCOPE" inspect one/units/group-0000.unit --json |
    python3 -c 'import json, sys; f = json.load(sys.stdin); print(f["query heads kept"], f["key heads kept"])')" \
    "1 1"
expect 0 "$QKSCOPE" capture "$model" --text ids.jsonl --out all
expect 0 "$QKSCOPE" analyze all --out tables
equal "$(sql tables "SELECT printf('%.3f %.3f', r_q, r_k) AS r FROM qk
    WHERE layer = 1 AND head = 2 AND pc = 0" | tail -n 1)" "$printed"
for way in ./capture_head_static cmake/capture_head cmake/capture_head_static; do
    rm -rf one
    equal "$($way "$model" ids.jsonl 1 2 one)" "$first"
done

# --- and how they fail
expect 1 ./capture_head "$model" ids.jsonl 1 99 none
says "there is no head 99 in layer 1; the model has"
expect 1 ./capture_head none ids.jsonl 1 2 none
says "there is no model 'none'"
