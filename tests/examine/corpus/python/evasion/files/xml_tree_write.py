# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import xml.etree.ElementTree as ET

ET.ElementTree(ET.Element("a")).write("out/a.xml")
