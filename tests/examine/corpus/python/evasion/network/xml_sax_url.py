# must-any: FS_READ_ROOTS, NET_ACCESS
import xml.sax

xml.sax.parse("https://example.com/a.xml", xml.sax.ContentHandler())
