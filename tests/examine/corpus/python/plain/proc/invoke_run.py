# must: PROC_EXEC
# must-not: NET_ACCESS, CRYPTO_PRIMITIVES
from invoke import run

run("make docs")
