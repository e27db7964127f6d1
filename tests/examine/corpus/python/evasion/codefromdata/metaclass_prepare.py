# must: DYNAMIC_CODE_LOAD
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        exec("x = 1")
        return {}

class A(metaclass=Meta):
    pass
