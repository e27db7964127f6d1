# must-not: ALL
def plug(socket, requests):
    socket.connect(requests)
    return requests.get("amount")
