# must-not: ALL
import six

print(six.text_type("x"), six.PY3)
