# must-not: ALL
import click

@click.command()
@click.option("--name", default="x")
def main(name):
    click.echo(name)
