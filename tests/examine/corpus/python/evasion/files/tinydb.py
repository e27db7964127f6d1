# must-any: FS_READ_ROOTS, FS_WRITE_ROOTS
from tinydb import TinyDB

TinyDB("out/db.json")
