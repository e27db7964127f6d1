"""Forging what is told of a run, by every descriptor and signal that a program has."""

from tests.enforce.attacks.attackers import Attacker

# Every number is written to, spoken through, handed others, moved elsewhere and closed.
SHUFFLE = """
import array, fcntl, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
import marshal
report = marshal.dumps(("ended", 0, (0.0, 0.0, 0)))
over = marshal.dumps(("over", 0, ""))
FORGED = (
    len(report).to_bytes(4, "little") + report, report, over, b"g", b"b", b"s",
    b"l\\x03\\0\\0\\0", b'{"run": {"execution": {"status": "success", "exitCode": 0}}}\\n', b"0\\n",
)
def quietly(does, *arguments):
    try:
        return does(*arguments)
    except (OSError, ValueError):
        return None
def flood(number):
    for content in FORGED:
        quietly(os.write, number, content)
        copy = quietly(os.dup, number)
        spoken = None if copy is None else quietly(lambda: socket.socket(fileno=copy))
        if spoken is None and copy is not None:
            os.close(copy)
        if spoken is not None:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [number]))]
            quietly(spoken.sendmsg, [content], rights, socket.MSG_DONTWAIT)
            quietly(spoken.send, content, socket.MSG_DONTWAIT)
            quietly(spoken.shutdown, socket.SHUT_RDWR)
            spoken.close()
outputs = (1, 2) if "--spare" in sys.argv else ()
for number in range(1024):
    if number not in outputs:
        flood(number)
for process in filter(str.isdigit, os.listdir("/proc")):
    for each in quietly(os.listdir, f"/proc/{process}/fd") or ():
        if process != str(os.getpid()) or int(each) not in outputs:
            again = quietly(os.open, f"/proc/{process}/fd/{each}", os.O_WRONLY | os.O_NONBLOCK)
            if again is not None:
                flood(again)
                os.close(again)
for number in range(3, 1024):
    quietly(os.dup2, 0, number)
    quietly(fcntl.fcntl, number, fcntl.F_SETFL, os.O_NONBLOCK)
for number in range(1024):
    if number not in outputs:
        quietly(os.close, number)
for number in (1, 2, 3, 10, 12, 15, 17, 19, 34):
    quietly(os.kill, 1, number)
quietly(os.kill, -1, 0)
quietly(os.open, "/etc/shadow", os.O_RDONLY)
os._exit(7)
"""


def test_no_descriptor_and_no_signal_changes_what_is_told(attacker: Attacker) -> None:
    """Whatever it holds, shuffles or closes: the status is its own, and so is what it asked for."""
    told = attacker.runs(SHUFFLE, words=["--spare"])
    assert (told.status, told.problem) == (7, None)
    assert ["read", "/etc/shadow"] in told.noted
    assert told.notes["problems"] == told.notes["left_out"] == 0


def test_a_program_that_closes_its_streams_is_told_the_same(attacker: Attacker) -> None:
    """Its three streams are closed as well, after everything was written to them."""
    told = attacker.runs(SHUFFLE)
    assert (told.status, told.problem) == (7, None)
    assert "exitCode" in told.out, "what it wrote is its output, and no more than that"
    assert ["read", "/etc/shadow"] in told.noted


def test_what_is_written_where_reports_go_would_be_believed(attacker: Attacker) -> None:
    """With every descriptor of the launcher's left open in it, a program ends its own report."""
    told = attacker.runs(SHUFFLE, words=["--spare"], without=["closing"])
    assert (told.status, told.problem) != (7, None)
