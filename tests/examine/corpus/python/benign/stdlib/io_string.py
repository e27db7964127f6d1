# must-not: ALL
import io

buffer = io.StringIO()
buffer.write("x")
io.BytesIO(b"x").read()
