#!/usr/bin/env bash
# Lint, book, tests; the later ones run also when an earlier one failed, so that one run tells everything.
#     tools/test.sh               the quick tier: each answer to an exercise at one seed
#     tools/test.sh --thorough    at up to 25 other seeds, pages at the week's, with branches counted, and every notebook reproduced
#     tools/test.sh lint          ruff and mypy alone
# Other options go to every call of pytest; to run one file, call pytest itself.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p .cache
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

branches=
# Compiling is most of the library's tests: in the quick tier JAX leaves out its costly passes and cuts no function into parts to compile
# side by side, since both cores are busy; PyTensor runs in Python, without Numba.
compiler=(env JAX_DISABLE_MOST_OPTIMIZATIONS=1 XLA_FLAGS=--xla_cpu_parallel_codegen_split_count=1 PYTENSOR_FLAGS=mode=FAST_COMPILE)
if [[ " $* " == *" --thorough "* ]]; then
    export COVERAGE_CORE=ctrace  # half as slow again, and sees branches
    branches=--cov-branch
    compiler=()
fi

lint >.cache/lint.log 2>&1 &  # beside the pages, whose last ones leave a core idle
linting=$!
step pages "$python" tools/pages.py book
rendering=
if [[ " ${failed[*]-} " != *" pages "* ]]; then
    "$python" tools/build_book.py >.cache/book.log 2>&1 &  # Sphinx has one core; the other begins with the library
    rendering=$!
fi
# A site's tests share a browser, and many a file what it compiled, so a file stays on one worker.
# The library is covered by its own tests: what an exercise or a page happens to run proves nothing about it.
tests=("$python" -m pytest -n 2 --dist loadfile --durations=40)
step library "${compiler[@]}" "${tests[@]}" -p no:nbval --cov $branches --cov-report=term course_pkg tests/test_*.py "$@"
[ -z "$rendering" ] || step book eval 'wait $rendering; status=$?; cat .cache/book.log; (exit $status)'
others=$(ls -d tests/[a-z]*/ | grep -v -e notebooks -e site)
step exercises "${compiler[@]}" "${tests[@]}" -p no:nbval $others "$@"
# The longest first, and the pages' cells, which the book has run, last: so both workers end together.
longest=$(printf 'tests/site/test_%s.py ' pages pages_listed dials axe pdf)
step site "${tests[@]}" --no-loadscope-reorder $longest tests/notebooks/test_*.py tests/site/test_*.py book "$@"
step lint eval 'wait $linting; status=$?; cat .cache/lint.log; (exit $status)'
if [ -n "$branches" ]; then
    step seeds "$python" tools/reseed.py --shifts 1 --first "$(date +%-V)"  # another each week
    step reproduce "$python" tools/reproduce.py
fi

if [ ${#failed[@]} -gt 0 ]; then
    printf 'FAILED after %s s: %s\n' "$SECONDS" "${failed[*]}"
    exit 1
fi
printf 'all passed in %s s\n' "$SECONDS"
