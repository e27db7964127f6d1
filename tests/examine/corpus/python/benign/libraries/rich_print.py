# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from rich.console import Console

Console().print("[bold]eval[/bold]")
