# must-any: FS_READ_ROOTS, NET_ACCESS
import lxml.html

lxml.html.parse("http://example.com/")
