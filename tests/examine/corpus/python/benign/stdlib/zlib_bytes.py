# must-not: ALL
import gzip
import zlib

print(zlib.decompress(zlib.compress(b"x")), gzip.compress(b"x"), zlib.crc32(b"x"))
