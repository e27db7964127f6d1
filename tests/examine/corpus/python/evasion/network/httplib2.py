# must: NET_ACCESS
import httplib2

httplib2.Http().request("https://example.com/")
