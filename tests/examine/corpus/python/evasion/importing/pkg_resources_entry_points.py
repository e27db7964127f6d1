# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import pkg_resources

for point in pkg_resources.iter_entry_points("g"):
    point.load()
