# must-any: FS_READ_ROOTS, NET_ACCESS
from numpy import DataSource

DataSource().open("https://example.com/a.txt")
