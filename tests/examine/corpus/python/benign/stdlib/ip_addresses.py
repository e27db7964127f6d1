# must-not: ALL
import ipaddress

print(ipaddress.ip_network("192.0.2.0/24").num_addresses)
