# must-any: FS_READ_ROOTS, FS_WRITE_ROOTS
import click

@click.argument("x", type=click.File("w"))
def main(x):
    x.write("x")
