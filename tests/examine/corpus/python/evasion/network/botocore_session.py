# must: NET_ACCESS
# must-not: PROC_EXEC
from botocore.session import get_session

get_session().create_client("s3")
