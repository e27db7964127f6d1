# must: PROC_EXEC
# must-not: NET_ACCESS
import click, os

@click.command()
@click.option("--x", callback=lambda c, p, v: os.system(v))
def main(x):
    pass
