# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import io, pickle

class Reader(pickle.Unpickler):
    def find_class(self, module, name):
        return super().find_class(module, name)

def read(data):
    return Reader(io.BytesIO(data)).load()
