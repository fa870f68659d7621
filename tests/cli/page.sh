#!/usr/bin/env bash
# The page in a real Chromium: see tests/report/page_test.mjs.
. "$(dirname "$0")/lib.bash"
# shellcheck source=../report/pages.bash
. "$tests/report/pages.bash"

if ! chromium=$(command -v chromium); then
    echo "no chromium here: the page was not tried in a browser"
    exit 77
fi
make_run
expect 0 "$QKSCOPE" report run
make_one
make_odd
mkdir downloads
node "$tests/report/page_test.mjs" "$chromium" run/report.html odd/report.html one/report.html \
    "$PWD/downloads"
