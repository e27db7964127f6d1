# must-not: ALL
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from socket import socket

def f(s: "socket") -> "subprocess.Popen":
    raise NotImplementedError
