# must-not: ALL
from http import HTTPStatus

print(HTTPStatus.NOT_FOUND.phrase)
