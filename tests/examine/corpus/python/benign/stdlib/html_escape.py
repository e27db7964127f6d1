# must-not: ALL
import html

print(html.escape("<a>"), html.unescape("&lt;"))
