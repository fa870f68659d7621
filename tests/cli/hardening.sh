#!/usr/bin/env bash
# The program as it is built: position-independent, its tables read-only once it runs, no stack to
# execute, stacks and string functions guarded.
. "$(dirname "$0")/lib.bash"

if ! command -v readelf >/dev/null; then
    echo "readelf is not here"
    exit 77
fi
headers=$(readelf --wide --file-header --segments --dynamic --symbols "$QKSCOPE")
has() { # part
    [[ $headers == *"$1"* ]] || fail "no '$1' in the program's headers"
}
has "DYN (Position-Independent Executable file)"
has "GNU_RELRO"
has "BIND_NOW"
has "__stack_chk_fail"
has "__memcpy_chk" # _FORTIFY_SOURCE
stack=$(grep GNU_STACK <<<"$headers")
[[ $stack == *" RW "* ]] || fail "the stack may be executed: $stack"
if [[ $headers == *TEXTREL* ]]; then fail "the program's text is written to when it starts"; fi
