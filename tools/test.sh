#!/usr/bin/env bash
# Lint, book, tests; the later ones run also when an earlier one failed, so that one run tells everything.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=.venv/bin/python
failed=()

step() {
    local name=$1 start=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    "$@" || failed+=("$name")
    printf '== %s: %s s\n' "$name" $((SECONDS - start))
}

lint() {
    local status=0
    .venv/bin/ruff check . || status=1
    .venv/bin/ruff format --check . || status=1
    .venv/bin/mypy || status=1
    return $status
}

if [ "${1-}" = lint ]; then
    lint
    exit
fi

step lint lint
step book "$python" tools/build_book.py
# A page's cells share a kernel and a site's tests a browser, so a file stays on one worker.
step tests "$python" -m pytest -n 2 --dist loadfile --cov --cov-report=term "$@"

if [ ${#failed[@]} -gt 0 ]; then
    printf 'FAILED after %s s: %s\n' "$SECONDS" "${failed[*]}"
    exit 1
fi
printf 'all passed in %s s\n' "$SECONDS"
