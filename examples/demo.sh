#!/usr/bin/env bash
# What there is to see, in the order a stranger would try it. Needs no input and changes nothing
# outside a temporary folder.
set -euo pipefail
exec 2>&1
cd "$(dirname "$0")/.."
bin="${VENV:-.venv}/bin"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/project/.consentry" "$place/home"
export HOME="$place/home" XDG_STATE_HOME="$place/home/state" XDG_CONFIG_HOME="$place/home/config"

say() { printf '\n\033[1m== %s\033[0m\n' "$1" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }
try() { printf '$ %s\n' "$*"; "$bin/$@" || printf '(exit status %s)\n' "$?"; }

say "Where am I, and what does this machine offer?"
try consentry status --workspace "$place/project"
say "What does a word of the product mean?"
try consentry explain mcp-standard
say "May anything be granted this file?"
try consentry explain "~/.ssh/id_ed25519"
say "A mistake on purpose"
try consentry explian
say "Questions about one tool, asked of surfaces"
"$bin/python" examples/questions.py
say "A ledger is written, verified, and one byte of it is flipped"
"$bin/python" examples/ledger.py record
try consentry audit log
try consentry audit verify
try consentry audit checkpoint --out "$place/checkpoint.json"
try consentry audit verify --checkpoint "$place/checkpoint.json"
"$bin/python" examples/ledger.py flip
try consentry audit verify
say "That is version 0.1: it compares powers and explains itself. It runs nothing yet."
