# must: NET_ACCESS
import pycurl

pycurl.Curl().setopt(pycurl.URL, "https://example.com/")
