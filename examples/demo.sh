#!/usr/bin/env bash
# The main job on a small paper: see what a tool wants, decide, run it confined, have it on record.
# With a terminal you are asked. Without one a policy file of this demo's own temporary configuration
# stands for the yes, at exact digests; nobody is simulated. Changes nothing outside a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${VENV:-.venv}/bin" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export HOME="$place/home" XDG_STATE_HOME="$place/home/state" XDG_CONFIG_HOME="$place/home/config"
mkdir -p "$HOME/.ssh" "$XDG_CONFIG_HOME"
printf 'not a real key\n' > "$HOME/.ssh/id_ed25519"

# Without a terminal both streams are one, so that a log has them in order; a terminal stays one.
[ -t 1 ] || exec 2>&1
say() { printf '\n\033[1m== %s\033[0m\n' "$1" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }
try() { printf '$ %s\n' "$*"; "$bin/$@" || printf '(exit status %s)\n' "$?"; }
has_terminal() { [ -t 0 ] && [ -t 1 ] && (: > /dev/tty) 2> /dev/null; }

cp -r examples/paper "$HOME/paper"
cp -r examples/paper/.paper/_cfg "$XDG_CONFIG_HOME/consentry"
rm -r "$HOME/paper/.paper"
mkdir "$HOME/paper/.git"
cd "$HOME/paper"

say "Five tools want to work on a small paper"
try consentry tool list
try consentry tool lint
tools=(lint-latex format-references count-words)
if command -v pdflatex > /dev/null; then
    tools+=(build-latex)
else
    printf 'pdflatex is not installed, so build-latex is left out\n'
fi

if has_terminal; then
    say "You are asked: a approves, d denies, i shows the details, r remembers"
else
    say "There is no terminal, so nobody can be asked: a policy file in this demo's own temporary"
    printf 'configuration names each tool at its exact digest, and the effect of strict ones with commit: auto\n'
    "$bin/python" - "${tools[@]}" > "$HOME/policy.yaml" <<'PYTHON'
import json
import subprocess
import sys

entries = []
for name in sys.argv[1:]:
    shown = subprocess.run(
        [f"{sys.exec_prefix}/bin/consentry", "tool", "show", name, "--json"],
        check=True,
        capture_output=True,
    ).stdout
    tool = json.loads(shown)["tool"]
    entries.append({"tool": name, "version": tool["version"], "digest": tool["digest"]})
    if name == "build-latex":
        entries[-1]["commit"] = "auto"
print(json.dumps({"policyVersion": "1", "entries": entries}, indent=1))
PYTHON
    mv "$HOME/policy.yaml" "$XDG_CONFIG_HOME/consentry/policy.yaml"
    cat "$XDG_CONFIG_HOME/consentry/policy.yaml"
fi

say "Level implicit: it is announced, and runs"
try consentry run validate-structure
say "Level explicit: it is asked about, and told what it may not do"
try consentry run lint-latex
try consentry run format-references
if command -v pdflatex > /dev/null; then
    say "Level strict: it runs apart first, and a second yes takes over exactly what it made"
    try consentry run build-latex
    ls -l output-final/pdf/main.pdf
fi
say "One tool says that it counts words. It also looks for your key, and phones home"
try consentry run count-words
say "What happened there? From the record alone"
try consentry why
say "Could one have known before? What the script can do, read and not run"
try consentry surface scripts/count_words.py
say "A clone that lists its own thief under none is asked about all the same"
mkdir -p "$HOME/clone/.git"
cp -r "$OLDPWD/examples/paper/." "$HOME/clone"
sed -i 's/allowedTools: \[\]/allowedTools: [count-words]/; /        - count-words/d; ' "$HOME/clone/.paper/_cfg/consent-config.yaml"
sed -i 's/consentLevel: explicit/consentLevel: none/' "$HOME/clone/.paper/_cfg/tools/count-words.yaml"
mv "$XDG_CONFIG_HOME/consentry" "$XDG_CONFIG_HOME/kept"
(cd "$HOME/clone" && printf '$ consentry run --no-wait count-words\n'; setsid --wait "$bin/consentry" run --no-wait count-words || printf '(exit status %s)\n' "$?")
mv "$XDG_CONFIG_HOME/kept" "$XDG_CONFIG_HOME/consentry"
say "The record of the last run, and a report of all of them"
try consentry audit show "$("$bin/consentry" why --json | "$bin/python" -c 'import json, sys; print(json.load(sys.stdin)["run"]["id"])')"
try consentry report
try consentry report --format html --out "$HOME/report.html"
say "Saved code runs in a set that is read from it. What it lacks it asks for, once"
printf 'result = sum(1 for _ in open("latex/main.tex"))\n' > "$HOME/count_lines.py"
try consentry capability save count-lines "$HOME/count_lines.py"
try consentry capability set count-lines minimal
if has_terminal; then
    try consentry capability run count-lines
else
    try consentry capability run count-lines --no-wait
    try consentry inbox
fi
say "What was granted and never used? A smaller manifest is offered"
try consentry tool narrow build-latex
say "A plugin is loaded as it was locked, or not at all"
cp -r "$OLDPWD/plugins" "$XDG_CONFIG_HOME/consentry/plugins"
try consentry plugins verify --own
try consentry tool show count-note-words --quiet
printf 'MARKS = frozenset()\n' > "$XDG_CONFIG_HOME/consentry/plugins/example-notes/rules/marks.py"
try consentry tool list
rm -r "$XDG_CONFIG_HOME/consentry/plugins"
say "Strangers extend an application: a module asks, and what it may never do is refused after a yes, too"
printf '$ python examples/modules.py\n'
"$bin/python" "$OLDPWD/examples/modules.py"
say "What a module would change is shown line by line, applied whole, and taken back"
printf '$ python examples/changes.py\n'
"$bin/python" "$OLDPWD/examples/changes.py"
try consentry tx list --all --module gardener
say "Nothing on record was changed since"
try consentry audit verify
say "That is the main job. examples/tour.sh shows the rest: exec, rehearsing, learning, attacks, proofs"
