# must: FS_READ_ROOTS
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS templates
from jinja2 import Environment, FileSystemLoader

Environment(loader=FileSystemLoader("templates"))
