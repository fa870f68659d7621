#!/usr/bin/env bash
# Disks that are full and places that cannot be written: exit 1 with the path, what was there
# before is untouched, and nothing half-written is left.
. "$(dirname "$0")/lib.bash"

# --- standard output
for command in "version" "help" "inspect $data/dataset" "sql $data/expected FROM\ qk"; do
    eval "set -- $command"
    code=0
    "$QKSCOPE" "$@" >/dev/full 2>stderr.txt || code=$?
    equal "$code" 1
    err=$(cat stderr.txt)
    one_line
    says "No space left on device"
done
code=0
"$QKSCOPE" sql "$data/expected" "FROM qk, heads" 2>stderr.txt | head -1 >/dev/null || code=$?
err=$(cat stderr.txt)
[ "$code" -eq 1 ] || fail "exit $code after the reader went away"
says "Broken pipe"

# --- a place that is no folder
: >file
for place in file file/below /dev/null/below; do
    expect 1 "$QKSCOPE" analyze "$data/dataset" --plasticity none --out "$place"
    one_line
    says "$place"
    expect 1 "$QKSCOPE" merge "$data/dataset" --plasticity none --out "$place/x.unit"
    one_line
    says "$place"
done
[ ! -s file ] || fail "the file in the way was written"
expect 1 "$QKSCOPE" merge "$data/dataset" --plasticity none --out "$PWD"
one_line

# --- a full disk: files may not grow beyond a few KiB
expect 0 "$QKSCOPE" analyze "$data/dataset" --plasticity none --out tables
mkdir unit
expect 0 "$QKSCOPE" merge "$data/dataset" --plasticity none --out unit/u.unit
cp -r tables tables.before
cp -r unit unit.before
limited() { # KiB command...
    local size=$1
    shift
    (ulimit -f "$size" && "$@")
}
expect 1 limited 4 "$QKSCOPE" analyze "$data/dataset" --plasticity none --components 9 --out tables
one_line
says "tables/qk"
same tables tables.before
expect 1 limited 4 "$QKSCOPE" analyze "$data/dataset" --plasticity none --components 9 --out fresh
one_line
equal "$(ls -A fresh)" ""
expect 1 limited 40 "$QKSCOPE" merge "$data/dataset" --plasticity none --groups 2 --out unit/u.unit
one_line
says "unit/u.unit"
same unit unit.before
