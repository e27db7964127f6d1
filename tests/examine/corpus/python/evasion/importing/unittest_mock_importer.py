# must: DYNAMIC_CODE_LOAD
from unittest import mock

mock.patch("os.getcwd", print).start()
