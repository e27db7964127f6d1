"""Who is at this terminal, as it is recorded."""

import os
from dataclasses import replace

import pytest

from consentry.service.identity import account_name, local_user
from tests.record.samples import WRITER
from tests.service.conftest import MakeAround


def test_the_user_of_this_process_on_this_machine(around: MakeAround) -> None:
    """Number, the account's name where it has one, and the machine."""
    uid = os.geteuid()
    name = account_name(uid) or str(uid)
    assert local_user(around(), WRITER) == f"local:{uid}:{name}@{WRITER}"


def test_root_behind_sudo_is_the_person_who_called_it(around: MakeAround) -> None:
    """Only root may have come by sudo; for anybody else the variable is a made-up one."""
    behind = around(environ={"SUDO_UID": "1234"})
    as_root = local_user(replace(behind, uid=0), WRITER, {0: "root", 1234: "ada"}.get)
    assert as_root == f"local:1234:ada@{WRITER}"
    as_user = local_user(replace(behind, uid=99), WRITER, {99: "eve", 1234: "ada"}.get)
    assert as_user == f"local:99:eve@{WRITER}"


@pytest.mark.parametrize(
    "value", ["", "-1", "1000 ", "1e3", "+5", "\u0661", "99999999999", "4294967295", "4294967296"]
)
def test_what_is_no_number_of_a_user_is_ignored(around: MakeAround, value: str) -> None:
    """Then root is root."""
    as_root = replace(around(environ={"SUDO_UID": value}), uid=0)
    assert local_user(as_root, WRITER, {0: "root"}.get) == f"local:0:root@{WRITER}"


@pytest.mark.parametrize("name", [None, "", "a\nb", "\udcff", "a\x1b[2J", "\u202e"])
def test_an_account_without_a_readable_name_goes_by_its_number(
    around: MakeAround, name: str | None
) -> None:
    """A name must not be able to break a line of a record."""
    user = local_user(replace(around(), uid=7), WRITER, {7: name}.get)
    assert user == f"local:7:7@{WRITER}"


def test_a_name_with_an_at_sign_is_kept(around: MakeAround) -> None:
    """Directory services make such names; the machine is what follows the last one."""
    user = local_user(replace(around(), uid=7), WRITER, {7: "ada@example.org"}.get)
    assert user == f"local:7:ada@example.org@{WRITER}"
