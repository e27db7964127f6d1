# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS cache.example.com:6379
import redis

redis.Redis(host="cache.example.com", port=6379).get("a")
