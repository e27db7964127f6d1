# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS db.example.com:5432
import psycopg2

psycopg2.connect(host="db.example.com", port=5432, dbname="app")
