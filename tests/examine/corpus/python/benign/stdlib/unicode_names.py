# must-not: ALL
import unicodedata

print(unicodedata.normalize("NFKC", "\ufb01"))
