# must-not: ALL
from pydantic import BaseModel

class User(BaseModel):
    name: str
    environ: dict[str, str] = {}

User(name="x").model_dump()
