# must: NET_ACCESS
from scapy.all import IP, send

send(IP(dst="192.0.2.1"))
