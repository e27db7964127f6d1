"""Recipes and compositions of containers (GUARD §extract-1)."""

import pytest

from tests.examine.dependencies.reading import read


def test_images_are_dependencies() -> None:
    """By name without tag; well-known ones are known, stages of the same file are none."""
    text = (
        "ARG BASE=python:3.12\nFROM ${BASE} AS build\nFROM r.example/evil/thing:1@sha256:aa\n"
        "FROM build\nCOPY --from=build /a /b\nCOPY --from=0 /a /b\nCOPY --from=other/tool:2 /a /b\n"
    )
    found = read("Dockerfile", text)
    assert found.lines_of("start", "") == {2}
    assert found.hosts == {"r.example:443"}
    assert found.unknown == {"dependency image:r.example/evil/thing", "dependency image:other/tool"}


def test_another_tag_is_no_new_power() -> None:
    """The version is not part of what is compared."""
    one, two = (read("Dockerfile", f"FROM a/b:{tag}\n") for tag in ("1", "2"))
    assert one.unknown == two.unknown == {"dependency image:a/b"}


@pytest.mark.parametrize(
    "text",
    [
        "RUN fetch-it now",
        'RUN ["fetch-it", "now"]',
        "RUN --network=host fetch-it now",
        "RUN <<EOF\nfetch-it now\nEOF",
        "RUN <<-EOF\n\tfetch-it now\n\tEOF",
        "RUN true && \\\n    # why\n\n    fetch-it now",
        "# escape=`\nFROM scratch\nRUN true && `\n  fetch-it now",
        "CMD fetch-it now",
        'ENTRYPOINT ["fetch-it"]',
        "HEALTHCHECK --interval=5s CMD fetch-it now",
        "ONBUILD RUN fetch-it now",
        "run\tfetch-it now",
        "RUN <<EOF\n#!/bin/bash\nfetch-it now\nEOF",
    ],
)
def test_what_is_run(text: str) -> None:
    """GUARD §extract-proc: in all forms that the recipe may have."""
    assert "fetch-it" in read("Containerfile", text + "\n").programs


def test_python_in_a_recipe() -> None:
    """A here-document with a first line is a script of that program."""
    text = (
        "FROM scratch\nRUN <<EOF\n#!/usr/bin/env python3\nimport os\nos.system('fetch-it')\nEOF\n"
    )
    assert "fetch-it" in read("Dockerfile", text).programs


def test_another_shell_is_not_read() -> None:
    """What a shell reads that no extractor knows is unclassified."""
    text = 'FROM scratch\nSHELL ["powershell", "-Command"]\nRUN Get-Thing\n'
    assert read("Dockerfile", text).is_unreadable


def test_what_is_fetched_and_which_secrets() -> None:
    """`ADD` of an address reaches a host; a secret that is mounted is seen."""
    text = "ADD https://x.example/a.tgz /\nRUN --mount=type=secret,id=t,env=TOKEN true\n"
    found = read("Dockerfile", text)
    assert "x.example:443" in found.hosts
    assert "TOKEN" in found.variables


def test_paths_and_variables_of_the_image_are_its_own() -> None:
    """Cleaning up inside an image touches no protected root of the machine."""
    text = "FROM scratch\nENV A=1\nARG B\nRUN rm -rf /var/lib/apt/lists/* $A $B\nWORKDIR /etc/x\n"
    found = read("Dockerfile", text)
    assert not {operation for operation, _ in found.powers} & {"read", "write"}
    assert not found.variables & {"A", "B"}


COMPOSE = """\
x-common: &common
  image: postgres:16
  environment: {LEVEL: "${LOG_LEVEL:-info}", PASSED: }
services:
  db:
    <<: *common
    volumes:
      - ./data:/var/lib/data
      - /srv/in:/in:ro
      - named:/x
      - {type: bind, source: ~/.ssh, target: /k, read_only: true}
  web:
    image: acme/web:1
    command: fetch-it $$HOME ${WHERE}
    healthcheck: {test: ["CMD-SHELL", "check-it"]}
    environment: [ALSO_PASSED, CONSTANT=1]
    env_file: web.env
    ports: ["80:80"]
secrets:
  s: {environment: SECRET}
"""


def test_compose() -> None:
    """GUARD §extract-absolute: folders of the machine are read, and written unless said otherwise."""
    found = read("docker-compose.yml", COMPOSE)
    assert {("read", "data"), ("write", "data"), ("read", "/srv/in")} <= found.powers
    assert ("write", "/srv/in") not in found.powers
    assert {("read", "~/.ssh"), ("read", "ABSOLUTE_PATH"), ("read", "web.env")} <= found.powers
    assert {"LOG_LEVEL", "PASSED", "ALSO_PASSED", "WHERE", "SECRET"} <= found.variables
    assert "CONSTANT" not in found.variables
    assert {"fetch-it", "check-it"} <= found.programs
    assert found.unknown == {"dependency image:acme/web"}


@pytest.mark.parametrize(
    ("command", "loads"),
    [
        ("sh -c 'fetch-it $$WHERE'", False),
        ('sh -c "fetch-it $$WHERE"', False),
        ("sh -c 'fetch-it ${WHERE}'", True),
    ],
)
def test_commands_of_compose_are_words(command: str, loads: bool) -> None:  # noqa: FBT001 - a case
    """A variable that compose puts into a script is code; one that the script sees is not."""
    found = read("compose.yaml", f"services:\n  a:\n    command: {command}\n")
    assert "fetch-it" in found.programs or loads
    assert (("load", "ANY") in found.powers) is loads
    assert "WHERE" in found.variables


@pytest.mark.parametrize(
    "setting",
    [
        "privileged: true",
        "privileged: '${X}'",
        "cap_add: [SYS_ADMIN]",
        "pid: host",
        "volumes: ['/var/run/docker.sock:/s']",
        "security_opt: ['seccomp:unconfined']",
    ],
)
def test_a_container_with_the_machine_starts_anything(setting: str) -> None:
    """GUARD §extract-proc: what the machine could start."""
    assert "*" in read("compose.yaml", f"services: {{a: {{{setting}}}}}\n").programs


def test_a_bomb_of_aliases_is_refused() -> None:
    """GUARD §extract-closed: what a small document expands to is counted, not copied."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert read("compose.yaml", "\n".join(lines)).is_unreadable


@pytest.mark.parametrize(
    "content",
    [
        "a: &a [*a]",
        "a: *nowhere",
        "a: [",
        "- " * 500 + "x",
        "a: b\x85evil: c",
        "a: !x y",
        "{}\n---\n{}",
    ],
)
def test_hostile_yaml(content: str) -> None:
    """GUARD §extract-closed: cycles, depth, hidden breaks, tags, a second document."""
    assert read("compose.yaml", content).unknown
