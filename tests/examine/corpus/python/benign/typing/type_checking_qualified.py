# must-not: ALL
import typing

if typing.TYPE_CHECKING:
    import requests

def f(session: "requests.Session"):
    return session
