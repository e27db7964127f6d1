#!/usr/bin/env bash
# What else there is to see, beyond the tools of `make demo`. Needs no input and changes nothing
# outside a temporary folder.
set -euo pipefail
exec 2>&1
cd "$(dirname "$0")/.."
bin=$(cd "${VENV:-.venv}/bin" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/project/.consentry" "$place/home"
export HOME="$place/home" XDG_STATE_HOME="$place/home/state" XDG_CONFIG_HOME="$place/home/config"

say() { printf '\n\033[1m== %s\033[0m\n' "$1" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }
try() { printf '$ %s\n' "$*"; "$bin/$@" || printf '(exit status %s)\n' "$?"; }

say "A stranger's script counts your words. It also wants your key, and to phone home"
mkdir -p "$place/project/.git/hooks" "$place/project/out" "$place/home/.ssh"
printf 'not a real key\n' > "$place/home/.ssh/id_ed25519"
printf 'one two three\n' > "$place/project/notes.md"
cp examples/thief.py "$place/project/thief.py"
cd "$place/project"
try consentry exec -- python3 thief.py
say "The report is fine, so it may write; even with the whole project writable it plants no hook"
try consentry exec --write . -- python3 thief.py
printf '$ cat out/report.txt\n'; cat out/report.txt
printf '$ ls .git/hooks\n'; ls .git/hooks
say "What happened in that run? From the record alone"
try consentry why --verbose
say "First see what it would change, then take it over, then take it back"
rm out/report.txt
try consentry exec --rehearse --write . -- python3 thief.py
try consentry effect
run=$("$bin/consentry" effect --json | "$bin/python" -c 'import json, sys; print(json.load(sys.stdin)["run"])')
try consentry commit "$run"
try consentry undo "$run"
say "Watch it once, and write down the least that would do for it"
try consentry learn --out - -- python3 thief.py
say "Nothing on record was changed since"
try consentry audit verify
cd - > /dev/null
say "What does this machine offer, and does it hold?"
try consentry doctor --attack
say "What does a word of the product mean?"
try consentry explain mcp-standard
say "A mistake on purpose"
try consentry explian
say "Questions about one tool, asked of surfaces"
"$bin/python" examples/questions.py
say "A ledger is written and verified"
"$bin/python" examples/ledger.py record
try consentry audit log
try consentry audit verify
try consentry audit checkpoint --out "$place/checkpoint.json"
try consentry audit verify --checkpoint "$place/checkpoint.json"
say "One event is proven to somebody who has the event, the proof and the public key, and no ledger"
event=$("$bin/consentry" audit log --subject tool:build-latex --last 1 --quiet)
"$bin/consentry" audit show "$event" > "$place/event.json"
"$bin/consentry" audit checkpoint --public-key > "$place/key.pem"
try consentry audit proof "$event" --checkpoint "$place/checkpoint.json" --out "$place/proof.json"
HOME="$place/stranger" XDG_STATE_HOME="$place/stranger/state" try consentry audit proof \
  --verify "$place/proof.json" --event "$place/event.json" --key "$place/key.pem"
say "What is passed on to others: names and home folders are hidden"
try consentry audit export --subject tool:build-latex --redacted --out "$place/shared.jsonl"
"$bin/python" examples/ledger.py glance "$place/event.json" "$place/shared.jsonl"
say "One byte of the file is flipped"
"$bin/python" examples/ledger.py flip
try consentry audit verify
say "That is version 0.1: it confines what it runs, tells what it stopped, and keeps a ledger of it."
