#!/usr/bin/env bash
# Makes the hashed locks from pyproject.toml. Run it as `make lock`; `make lock UPGRADE=1` moves every
# pin to the newest version that fits, without it only what pyproject.toml no longer allows moves.
#
#   all.lock     base + every extra + dev group; resolved first, the others only choose from it,
#                so that one environment can grow from run to dev to all without changing a version
#   dev.lock     base + dev group
#   run.lock     base: what an ordinary install brings
#   build.lock   what an editable install of the project itself needs
#   locker.lock  uv, the tool this script resolves with
#
# The locks hold names, versions and hashes; no address of any index is written into them.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'lock: %s\n' "$*"; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
pip=("$scratch/venv/bin/python" -m pip --quiet --disable-pip-version-check install)
if [ -f requirements/locker.lock ] && [ -z "${UPGRADE:-}" ]; then
    "${pip[@]}" --require-hashes --only-binary :all: -r requirements/locker.lock 2>"$scratch/log" ||
        { cat "$scratch/log" >&2; exit 1; }
else
    "${pip[@]}" --only-binary :all: uv 2>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
fi
uv="$scratch/venv/bin/uv"
say "resolving with $("$uv" --version)"

# compile NAME ARGUMENTS…: writes requirements/NAME.lock, keeping the pins it has where they still fit.
compile() {
    local lock=requirements/$1.lock out=$scratch/$1.lock
    shift
    if [ -f "$lock" ] && [ -z "${UPGRADE:-}" ]; then grep -v '^#' "$lock" >"$out"; fi
    "$uv" pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-header --annotation-style line "$@" --output-file "$out" >/dev/null
    if grep -nE '://|^-|@ ' "$out"; then
        say "$lock would name a place to load from; not written" >&2
        exit 1
    fi
    {
        echo '# Made by "make lock" from pyproject.toml; do not edit.'
        # Keep which package asked for which; drop the files of this script, which tell nothing.
        sed -E '/# via /{s/, -[cr] [^,]*//g; s/-[cr] [^,]*(, )?//g; /# via *$/d}' "$out"
    } >"$scratch/written"
    cat "$scratch/written" >"$lock"
    say "$lock: $(grep -c '==' "$lock") packages"
}

compile all pyproject.toml --all-extras --group dev
compile dev pyproject.toml --group dev -c requirements/all.lock
compile run pyproject.toml -c requirements/all.lock
printf 'editables\nhatchling\n' >"$scratch/build.in"
compile build "$scratch/build.in" -c requirements/all.lock
printf '%s\n' "$("$uv" --version | awk '{print "uv==" $2}')" >"$scratch/locker.in"
compile locker "$scratch/locker.in"
