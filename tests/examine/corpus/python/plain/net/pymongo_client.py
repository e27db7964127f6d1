# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS db.example.com:27017
from pymongo import MongoClient

MongoClient("mongodb://db.example.com:27017/app")
