# must: PROC_EXEC
# must-not: DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import click

click.launch("https://example.com/")
