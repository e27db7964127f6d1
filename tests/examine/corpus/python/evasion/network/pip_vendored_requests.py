# must: NET_ACCESS
from pip._vendor import requests

requests.get("https://example.com/")
