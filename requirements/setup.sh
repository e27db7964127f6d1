#!/usr/bin/env bash
# Makes the environment that the make targets run in: setup.sh run|demo|check|test|all
#
#   run    what an ordinary install brings                  make bench
#   demo   that, and the programs that the demo starts      make demo
#   check  that and the tools                               make check
#   test   the same, and the programs that tests start      make test, make prove, make setup
#   all    the same, and every extra
#
# Finds an interpreter (PYTHON=… names one), installs missing system packages where it may, fills
# .venv from the hashed lock and compiles bytecode. A second call finds its stamps current and does
# nothing. Changes nothing outside the repository but system packages, and names no package index:
# pip uses the one it is configured for, and the hashes decide. POSTGRES_BIN=… names the folder of a
# PostgreSQL server that is not where Debian puts it; the tests read it too.
set -euo pipefail
cd "$(dirname "$0")/.."

level=${1:-}
case "$level" in
    run | demo) locks=run ;;
    check | test) locks=dev ;;
    all) locks=all ;;
    *) echo 'usage: setup.sh run|demo|check|test|all' >&2 && exit 2 ;;
esac

# System packages, by their Debian names.
python_packages=(python3 python3-venv)
demo_packages=(texlive-latex-base)
test_packages=(docker.io git curl tmux zsh fish openssl strace postgresql bubblewrap firejail podman chromium npm)

venv=.venv
started=$SECONDS
say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$@" >&2 && exit 1; }

# What a user's settings say about other environments must not reach this one.
# Of pip's, only what says where packages come from and how to get there is kept; PIP_DRY_RUN,
# PIP_TARGET, PIP_NO_DEPS and all others could make an install do nothing, or something else. What a
# configuration file says is overridden where a setting can be.
unset PYTHONHOME PYTHONPATH
for name in "${!PIP_@}"; do
    case "$name" in
        PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | PIP_NO_INDEX | PIP_FIND_LINKS | PIP_CONFIG_FILE) ;;
        PIP_PROXY | PIP_CERT | PIP_CLIENT_CERT | PIP_TRUSTED_HOST | PIP_KEYRING_PROVIDER) ;;
        PIP_RETRIES | PIP_TIMEOUT | PIP_DEFAULT_TIMEOUT | PIP_CACHE_DIR | PIP_NO_CACHE_DIR) ;;
        *) unset "$name" ;;
    esac
done
export PIP_DRY_RUN=0 PIP_USER=0 PIP_NO_DEPS=0 PIP_IGNORE_INSTALLED=0 PIP_REQUIRE_VIRTUALENV=0
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_PROGRESS_BAR=off

# quietly WHAT COMMAND…: shows what the command printed only when it fails.
quietly() {
    local what=$1 log
    shift
    log=$(mktemp)
    if "$@" >"$log" 2>&1 </dev/null; then
        rm -f "$log"
    else
        cat "$log" >&2
        rm -f "$log"
        die "$what failed; what it printed is above"
    fi
}

# ---- system packages ---------------------------------------------------------------------------

may_install() {
    command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

apt() {
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"
}

# The package lists are fetched only when the ones at hand are not good enough.
apt_install() {
    apt install --no-install-recommends "$@" ||
        { apt update && apt install --no-install-recommends "$@"; }
}

# Most packages bring the command of their own name; that of the server is not on PATH.
is_installed() {
    case "$1" in
        postgresql) has_postgres ;;
        docker.io) has_docker ;; # as Debian calls it
        bubblewrap) command -v bwrap >/dev/null ;;
        texlive-latex-base) command -v pdflatex >/dev/null && command -v bibtex >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

has_docker() { (PATH=$PATH:/usr/sbin && command -v docker && command -v dockerd) >/dev/null; }

has_postgres() {
    if [ -n "${POSTGRES_BIN:-}" ]; then
        [ -x "$POSTGRES_BIN/initdb" ]
    else
        compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null
    fi
}

require_packages() {
    may_install || die "system packages are missing: $*" \
        "install them as root (on Debian: apt-get install $*), then run this again"
    say "installing system packages: $*"
    quietly "installing $*" apt_install "$@"
}

# ---- the interpreter ---------------------------------------------------------------------------

candidates=(python3 python3.13 python3.12 python3.11 /usr/bin/python3)
[ -z "${PYTHON:-}" ] || candidates=("$PYTHON")

# find_python STATEMENT: the first candidate that is new enough and can execute the statement.
find_python() {
    local name
    for name in "${candidates[@]}"; do
        "$name" -c "
import sys
if sys.version_info < (3, 11): sys.exit(1)
$1
print(sys.executable)" 2>/dev/null </dev/null && return
    done
    return 1
}

makes_environments='import venv; from ensurepip import version'

# What is to be installed before an interpreter can be found that makes environments.
missing_for_python() {
    local bare
    if bare=$(find_python pass); then
        # Debian keeps ensurepip in a package of its own, one for each version.
        "$bare" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])' </dev/null
    elif [ -n "${PYTHON:-}" ]; then
        die "PYTHON=$PYTHON is not a Python of version 3.11 or newer"
    else
        echo "${python_packages[@]}"
    fi
}

# ---- the environment ---------------------------------------------------------------------------

lock_files() {
    # An editable install of the project needs its build back end; the other locks contain it.
    if [ "$1" = run ]; then echo requirements/run.lock requirements/build.lock; else echo "requirements/$1.lock"; fi
}

# shellcheck disable=SC2046,SC2002 # one word for each file, and there may be two
lock_stamp() { # where and with which Python it was made (an environment cannot be moved), and from what
    echo "$PWD $("$venv/bin/python" -V) $(cat $(lock_files "$1") | sha256sum)"
}

project_stamp() { cat pyproject.toml src/consentry/__init__.py | sha256sum; }

is_stamped() { [ "$(cat "$venv/$1.stamp" 2>/dev/null)" = "$2" ]; }

# Usable as it stands: it starts, nothing in it comes from an older lock, it is the Python asked for.
is_usable() {
    local lock
    "$venv/bin/python" -c 'import pip' 2>/dev/null </dev/null || return 1
    for lock in run dev all; do
        [ ! -f "$venv/$lock.stamp" ] || is_stamped "$lock" "$(lock_stamp "$lock")" || return 1
    done
    [ -z "${PYTHON:-}" ] || [ "$("$PYTHON" -V 2>&1)" = "$("$venv/bin/python" -V)" ]
}

has_lock() { # the larger locks contain the smaller
    case "$1" in
        run) [ -f "$venv/run.stamp" ] || has_lock dev ;;
        dev) [ -f "$venv/dev.stamp" ] || has_lock all ;;
        all) [ -f "$venv/all.stamp" ] ;;
    esac
}

pip() { "$venv/bin/python" -m pip install "$@"; }

# compileall writes bytecode also when PYTHONDONTWRITEBYTECODE is set; test data inside packages that is
# not meant to compile is passed over.
compile() { "$venv/bin/python" -m compileall -qq -j 0 "$@" </dev/null || true; }

# shellcheck disable=SC2046,SC2002 # as above
install_lock() {
    local args=() file
    for file in $(lock_files "$1"); do args+=(-r "$file"); done
    say "installing $(cat $(lock_files "$1") | grep -c '==') packages from requirements/$1.lock"
    quietly "installing the packages" pip --no-compile --require-hashes --only-binary :all: "${args[@]}"
    say "compiling bytecode"
    compile "$venv"/lib/python3*/site-packages
    lock_stamp "$1" >"$venv/$1.stamp"
}

install_project() {
    say "installing the project, editable"
    quietly "installing the project" pip --no-deps --no-build-isolation --no-index --editable .
    project_stamp >"$venv/project.stamp"
}

# Two make runs in one tree take turns.
mkdir -p .cache
exec 9>.cache/setup.lock
if command -v flock >/dev/null; then flock 9; fi

missing=() wanted=() packages=()
case "$level" in
    demo) packages=("${demo_packages[@]}") ;;
    test | all) packages=("${demo_packages[@]}" "${test_packages[@]}") ;;
esac
for package in "${packages[@]}"; do
    is_installed "$package" || wanted+=("$package")
done
usable=no python=
if is_usable; then
    usable=yes
elif ! python=$(find_python "$makes_environments"); then
    # shellcheck disable=SC2207 # one word for each package
    missing+=($(missing_for_python)) || exit 1
fi
if [ ${#wanted[@]} -gt 0 ] && ! may_install; then
    say "not installed: ${wanted[*]}; what starts them is left out, and says so"
    wanted=()
fi
missing+=("${wanted[@]}")
[ ${#missing[@]} = 0 ] || require_packages "${missing[@]}"

if [ $usable = no ]; then
    [ -n "$python" ] || python=$(find_python "$makes_environments") ||
        die "no Python of version 3.11 or newer that can make virtual environments; name one with PYTHON=…"
    say "making $venv with $("$python" -V) ($python)"
    rm -rf "$venv"
    quietly "making $venv" "$python" -m venv "$venv"
fi
has_lock "$locks" || install_lock "$locks"
is_stamped project "$(project_stamp)" || install_project
compile src
[ $((SECONDS - started)) -lt 2 ] || say "ready after $((SECONDS - started)) s"
