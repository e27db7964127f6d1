# must-not: ALL
class Router:
    def get(self, path):
        return lambda handler: handler

    post = get

app = Router()

@app.get("/users")
def users():
    return []
