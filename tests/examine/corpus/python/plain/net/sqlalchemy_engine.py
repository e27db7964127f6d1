# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS db.example.com:5432
from sqlalchemy import create_engine

create_engine("postgresql://user@db.example.com/app")
