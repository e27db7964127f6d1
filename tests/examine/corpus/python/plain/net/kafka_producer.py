# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from kafka import KafkaProducer

KafkaProducer(bootstrap_servers="broker.example.com:9092").send("t", b"x")
