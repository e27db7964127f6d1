# must-any: FS_WRITE_ROOTS, PROC_EXEC
from crontab import CronTab

CronTab(user=True).new(command="id").run()
