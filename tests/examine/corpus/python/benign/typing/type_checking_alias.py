# must-not: ALL
import typing as t

if t.TYPE_CHECKING:
    from http.client import HTTPConnection
