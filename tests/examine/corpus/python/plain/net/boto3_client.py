# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import boto3

boto3.client("s3").list_buckets()
