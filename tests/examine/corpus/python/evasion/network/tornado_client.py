# must: NET_ACCESS
from tornado.httpclient import AsyncHTTPClient

AsyncHTTPClient().fetch("https://example.com/")
