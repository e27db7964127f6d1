# must: PROC_EXEC
# must-not: NET_ACCESS
import click

click.edit("text", editor="id")
