# must-not: ALL
data = b"exec(1)"
data.hex()
bytes.fromhex("6576616c")
int.from_bytes(data, "big")
