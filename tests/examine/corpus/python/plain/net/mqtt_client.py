# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import paho.mqtt.client as mqtt

mqtt.Client().connect("broker.example.com", 1883)
