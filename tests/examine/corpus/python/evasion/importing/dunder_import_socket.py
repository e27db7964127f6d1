# must: NET_ACCESS
__import__("socket").create_connection(("192.0.2.1", 80))
