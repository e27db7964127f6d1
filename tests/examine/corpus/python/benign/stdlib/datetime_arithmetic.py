# must-not: ALL
from datetime import datetime, timedelta, timezone

print(datetime.now(timezone.utc) + timedelta(days=1))
