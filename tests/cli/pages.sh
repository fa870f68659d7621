#!/usr/bin/env bash
# Manual pages and completions say what --help says: every verb has a page, every option is in it,
# troff takes them without a warning, and bash and zsh offer verbs, options, words and files.
. "$(dirname "$0")/lib.bash"

mkdir pages
expect 0 "$QKSCOPE" pages pages
same pages "$(dirname "$QKSCOPE")/pages"
expect 1 "$QKSCOPE" pages none
says "cannot write 'none/qkscope.1'"

"$QKSCOPE" help >help.txt
verbs=$(sed -n 's/^  \([a-z]*\)  .*/\1/p' help.txt)
[ "$(wc -w <<<"$verbs")" -gt 10 ] || fail "only these verbs: $verbs"
for verb in $verbs; do
    page=pages/qkscope-$verb.1
    [ -e "$page" ] || fail "no page of $verb"
    grep -q "qkscope.-$verb" pages/qkscope.1 || fail "qkscope.1 leaves out $verb"
    "$QKSCOPE" "$verb" --help >one.txt
    grep -q "^  qkscope $verb\|^  mpirun" one.txt || [ "$verb" = help ] || fail "$verb: no example"
    sed 's/\\-/-/g' "$page" >plain.txt
    sed -n 's/^  \(--[a-z-]*\).*/\1/p' one.txt | while read -r option; do
        grep -q -- "^\.B $option" plain.txt || fail "the page of $verb leaves out $option"
    done
    grep -q '^qkscope ' plain.txt || fail "the page of $verb has no example"
done
equal "$(find pages -name 'qkscope-*.1' | wc -l)" "$(wc -w <<<"$verbs")"
equal "$(find pages -type f \( -name '*worker*' -o -name '*pages*' \) | wc -l)" 0

for page in pages/*.1; do
    equal "$(groff -man -Tutf8 -ww -z "$page" 2>&1)" ""
done
groff -man -Tascii -P-c pages/qkscope-sql.1 >sql.txt
grep -q 'qkscope sql run "FROM heads WHERE class = .K-positional.*" --json' sql.txt ||
    fail "an example of sql reads $(grep K-pos sql.txt)"

# --- bash
touch corpus.jsonl
mkdir captured
offers() { # expected words...: what bash offers for the last
    local expected=$1
    shift
    equal "$(bash -c '. pages/qkscope.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _qkscope
        printf "%s " "${COMPREPLY[@]}"' bash qkscope "$@" 2>&1)" "$expected"
}
offers "init inspect " in
offers "analyze " help an
offers "--limit --layers " capture x --l
offers "uniform " capture x --sampler u
offers "all none " analyze x --plasticity ""
offers "corpus.jsonl " capture x --text cor
offers "captured " analyze x --out ca
offers "captured " analyze ca
offers "--devices --json --help " version --

# --- zsh
if ! command -v zsh >/dev/null; then
    echo "no zsh here: its completion was not tried"
    exit 0
fi
zsh -n pages/_qkscope || fail "zsh does not read its completion"
# What it tells zsh's own functions, which stand in here only to show what they hear.
zsh -f -c '_arguments() { [[ $1 == -C ]] || print -rl -- "$@" }
    _describe() { print -rl -- $verbs }
    words=($1)
    . pages/_qkscope' zsh capture >zsh.txt
grep -qxF -- '--sampler=[which positions (default all)]:all|uniform|log_uniform:(all uniform log_uniform )' \
    zsh.txt || fail "zsh hears: $(cat zsh.txt)"
grep -qxF -- '--out=[folder for what is captured (required)]:DIR:_files -/' zsh.txt ||
    fail "zsh hears: $(cat zsh.txt)"
zsh -f -c '_arguments() { : }
    _describe() { print -rl -- $verbs }
    words=(help)
    . pages/_qkscope' >zsh.txt
equal "$(wc -l <zsh.txt)" "$(wc -w <<<"$verbs")"
grep -qxF 'sql:ask a run'\''s tables in SQL' zsh.txt || fail "zsh hears: $(cat zsh.txt)"
