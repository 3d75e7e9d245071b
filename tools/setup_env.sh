#!/usr/bin/env bash
# Makes .venv with everything pinned, or ends at once if it is already there. Safe to interrupt: the stamp is written last.
# With --check it only says whether .venv is complete and in step with the pins.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
venv=$root/.venv
stamp=$venv/.complete
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

say() { printf 'setup: %s\n' "$*" >&2; }

usable() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12) or sys.prefix == "")' >/dev/null 2>&1; }

# A copied or moved folder brings an environment whose scripts point elsewhere: the interpreter itself says where it lives.
intact() { [ -x "$venv/bin/python" ] && "$venv/bin/python" - "$venv" <<'PY' >/dev/null 2>&1
import os, sys
here = open(os.path.join(sys.argv[1], "bin", "pip")).readline()
sys.exit(sys.version_info < (3, 12) or not here.startswith("#!" + sys.argv[1] + "/"))
PY
}

# Of pyproject.toml only what says what to install: another line length is no reason to install anything.
key() { { sed '/^\[tool\./,$d' pyproject.toml; cat constraints.txt tools/setup_env.sh; "$venv/bin/python" -VV; printf '%s' "$venv"; } | cksum; }

if intact && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(key)" ]; then exit 0; fi
if [ "${1-}" = --check ]; then
    say "the environment is missing or out of step with pyproject.toml and constraints.txt: run make env"
    exit 1
fi
rm -f "$stamp"

if ! intact; then
    rm -rf "$venv"
    for candidate in python3 python3.14 python3.13 python3.12; do
        if usable "$candidate"; then
            say "making .venv with $("$candidate" -V)"
            "$candidate" -m venv "$venv"
            break
        fi
    done
    if [ ! -x "$venv/bin/python" ] && command -v uv >/dev/null; then
        say "making .venv with uv and Python 3.12"
        uv venv --quiet --seed --python 3.12 "$venv"
    fi
    if [ ! -x "$venv/bin/python" ]; then
        say "no Python 3.12 or newer with venv and pip was found: install one (or uv), put it on the path and run this again"
        exit 1
    fi
fi

say "installing the pinned packages into .venv (about 1.7 GB; one to two minutes with a good connection)"
"$venv/bin/python" -m pip install --quiet --no-compile --editable '.[dev]' --constraint constraints.txt
# pip would compile on one core, and the packages' own tests, too
"$venv/bin/python" -W ignore -m compileall -qq -j 0 -x '/tests?/' "$venv/lib" || true
"$venv/bin/python" -m ipykernel install --sys-prefix --name python3 --display-name "Python 3" >/dev/null

# In JupyterLab a click on a page or a solved sheet opens a notebook, not its text.
lab=$venv/etc/jupyter/labconfig/default_setting_overrides.json
mkdir -p "${lab%/*}"
"$venv/bin/jupytext-config" --settings-file "$lab" set-default-viewer markdown >/dev/null

# Kernels announce on stderr that they speak TCP on the loopback; stderr on a page is an error, so they start quietly.
mkdir -p "$venv/etc/ipython"
printf 'c = get_config()  # noqa: F821\nc.IPKernelApp.log_level = 40\n' > "$venv/etc/ipython/ipython_kernel_config.py"

key > "$stamp"
say "done"
