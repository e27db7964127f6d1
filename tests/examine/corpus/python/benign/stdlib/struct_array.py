# must-not: ALL
import array
import struct

print(struct.pack("<I", 1), array.array("i", [1]))
