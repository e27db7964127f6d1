# must-not: ALL
class Request:
    def __init__(self, url):
        self.url = url

Request("https://example.com/")
