# must-not: ALL
import xml.etree.ElementTree as ET

print(ET.fromstring("<a><b/></a>").find("b"))
