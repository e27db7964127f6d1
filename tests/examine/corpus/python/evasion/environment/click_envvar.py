# must: ENV_READ
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import click

@click.option("--token", envvar="TOKEN")
def main(token):
    pass
