# must: ENV_READ
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import dataclasses, os

@dataclasses.dataclass
class A:
    env: dict = dataclasses.field(default_factory=lambda: dict(os.environ))
