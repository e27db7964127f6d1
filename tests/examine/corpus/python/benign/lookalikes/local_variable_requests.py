# must-not: ALL
requests = [{"id": 1}]
for request in requests:
    request.get("id")
requests.append({})
