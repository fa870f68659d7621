#!/usr/bin/env bash
# The page: what goes in, what is refused; in a browser it is tried by page.sh.
. "$(dirname "$0")/lib.bash"
# shellcheck source=../report/pages.bash
. "$tests/report/pages.bash"

# --- a run
make_run
expect 0 "$QKSCOPE" report run
says "3000 heads of 10 models"
says "1 figure; the page is run/report.html"
equal "$out" ""
[ "$(stat -c %s run/report.html)" -lt 5000000 ] || fail "the page is larger than 5 MB"
expect 0 "$QKSCOPE" report run --out again.html
same run/report.html again.html

# --- the eleven models: small and quick
models=$data/figures/models_synthetic
expect 0 "$QKSCOPE" analyze "$models/qk.csv" --study "$models/study.csv" --out models
started=$(date +%s%N)
expect 0 "$QKSCOPE" report models
echo "eleven models: $((($(date +%s%N) - started) / 1000000)) ms, $(stat -c %s models/report.html) bytes"
says "3239 heads of 11 models"
[ "$(stat -c %s models/report.html)" -lt 5000000 ] || fail "the page is larger than 5 MB"

make_one
make_odd
if grep -qF '<img src=x' odd/report.html; then fail "a name is markup"; fi

# --- refused
: >file
expect 1 "$QKSCOPE" report nowhere
one_line
says "there is no folder 'nowhere'"
expect 1 "$QKSCOPE" report "$study/qk.csv"
one_line
says "qkscope analyze"
mkdir empty
expect 1 "$QKSCOPE" report empty
one_line
says "no table qk"
expect 2 "$QKSCOPE" report
expect 2 "$QKSCOPE" report run more
expect 1 "$QKSCOPE" report run --out file/below
one_line
says "file/below"
cp -r models mixed
cp one/depth.csv mixed
rm mixed/depth.parquet
expect 1 "$QKSCOPE" report mixed
one_line
says "not of one run"
cp -r run/tables half
sql half "COPY (FROM depth WHERE bin < 9) TO 'depth.parquet'" >/dev/null
mv depth.parquet half
expect 1 "$QKSCOPE" report half
says "table depth counts"
cp -r run broken
echo '{"study": ' >broken/manifest.json
expect 1 "$QKSCOPE" report broken
one_line
says "manifest.json', line"
# a full disk: the old page stays, and nothing half-written
cp run/report.html before.html
limited() {
    (ulimit -f 400 && "$QKSCOPE" report run)
}
expect 1 limited
one_line
says "run/report.html"
same run/report.html before.html
equal "$(ls -A run)" $'figures\nmanifest.json\nreport.html\ntables'

# --- --open starts the first browser of the list that there is, without a shell
cat >browser <<'SH'
#!/bin/sh
printf '%s|' "$#" "$1" >opened
SH
chmod +x browser
# shellcheck disable=SC2016 # it is not to expand
odd='-odd $(touch owned) dir'
mkdir -- "$odd"
expect 0 env BROWSER="no-such-browser:$PWD/browser" "$QKSCOPE" report run --open \
    --out "$odd/page.html"
for _ in $(seq 50); do
    if [ -s opened ]; then break; fi
    sleep 0.1
done
equal "$(cat opened)" "1|$PWD/$odd/page.html|"
[ ! -e owned ] || fail "a shell saw the name"
expect 3 env BROWSER=no-such-browser "$QKSCOPE" report run --open
says "the page is in 'run/report.html', but no browser starts"
