#!/usr/bin/env bash
# The same command gives the same bytes: again, with any number of threads, from vectors and from
# units, and whatever the order of the inputs.
. "$(dirname "$0")/lib.bash"

# The dataset three times over as heads of more layers, so that threads have something to share.
mkdir big
for copy in 0 1 2; do
    for head in "$data"/dataset/l0*; do
        name=$(basename "$head")
        ln -s "$head" "big/l0$((3 * copy + ${name:2:1}))${name:3}"
    done
done
run() { # out threads arguments...
    local out=$1 threads=$2
    shift 2
    expect 0 env OMP_NUM_THREADS="$threads" "$QKSCOPE" analyze "$@" --threads "$threads" --out "$out"
}

options=(big --shape 9/4/2 --plasticity 40 --seed 7 --groups 3)
run first 1 "${options[@]}"
for threads in 1 2 5; do
    run "again$threads" $threads "${options[@]}"
    same first "again$threads"
done
expect 0 "$QKSCOPE" analyze "${options[@]}" --out default
same first default

# another seed draws other pairs and another collage, and changes nothing else
run other 2 "${options[@]/7/8}"
same first/qk.csv other/qk.csv
for table in plasticity collage; do
    if cmp -s first/$table.csv other/$table.csv; then fail "the seed has no effect on $table"; fi
done

# unit files too
for threads in 1 2 5; do
    expect 0 env OMP_NUM_THREADS=$threads "$QKSCOPE" merge "${options[@]}" --threads $threads \
        --out u$threads.unit
    same u1.unit u$threads.unit
done
run unit1 1 u1.unit --seed 7
run unit2 2 u1.unit --seed 7
same unit1 unit2
same unit1 first

# and a capture, however many of its documents the memory holds at once
demo=$tests/../demo
for memory in 1 2G; do
    expect 0 "$QKSCOPE" capture "$demo/S1-60" --text "$demo/text.jsonl" --tokenizer "$demo/tokenizer.json" \
        --max-length 200 --groups 3 --memory $memory --out memory-$memory
done
same memory-1/units memory-2G/units
