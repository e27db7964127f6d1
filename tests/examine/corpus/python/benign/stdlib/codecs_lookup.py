# must-not: ALL
import codecs

print(codecs.decode("uryyb", "rot13"), codecs.encode(b"x", "hex"))
