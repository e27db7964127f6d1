# must-not: ALL
from markupsafe import Markup, escape

print(escape("<a>"), Markup("<b>"))
