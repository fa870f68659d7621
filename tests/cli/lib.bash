# shellcheck shell=bash
# What the tests of the program have in common; sourced by them. They run in tests/, with the
# program in QKSCOPE and an empty folder in QKSCOPE_SCRATCH, and fail at the first surprise.
set -euo pipefail
cd "$QKSCOPE_SCRATCH"
tests=$OLDPWD
data=$tests/data/analysis
export QKSCOPE tests data

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Run a command that is to end with `code`; what it printed is in $out and $err.
expect() { # code command...
    local wanted=$1 code=0
    shift
    "$@" >stdout.txt 2>stderr.txt || code=$?
    out=$(cat stdout.txt)
    err=$(cat stderr.txt)
    [ "$code" -eq "$wanted" ] || fail "exit $code, not $wanted: $*"$'\n'"$out"$'\n'"$err"
}

# The last command's messages have this part.
says() { # part
    [[ $err == *"$1"* ]] || fail "it did not say '$1' but:"$'\n'"$err"
}

# A failure is one line that begins with the program's name.
one_line() {
    [ "$(wc -l <stderr.txt)" -eq 1 ] || fail "not one line:"$'\n'"$err"
    [[ $err == "qkscope: "* ]] || fail "does not begin with the program's name: $err"
}

equal() { # actual expected
    [ "$1" = "$2" ] || fail "'$1' is not '$2'"
}

same() { # file-or-folder file-or-folder
    diff -r "$1" "$2" >&2 || fail "$1 and $2 differ"
}

compare() { # actual.csv expected.csv ...
    python3 "$tests/cli/compare.py" "$@" || fail "compare $*"
}

sql() { # folder query
    "$QKSCOPE" sql "$1" "$2" --csv
}

# Write one head of a captured dataset: a query that gives bucket, example_id, position, vector.
head_file() { # folder head query
    mkdir -p "$1/$2"
    sql "$QKSCOPE_SCRATCH" "COPY ($3) TO '$1/$2/data.parquet' (COMPRESSION zstd)" >/dev/null
}

# No table says NaN or infinity.
no_nan() { # folder
    if grep -iwE -- '-?(nan|inf|infinity)' "$1"/*.csv; then fail "NaN or infinity in $1"; fi
}
