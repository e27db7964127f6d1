# must: NET_ACCESS
# must-not: PROC_EXEC
from six.moves import urllib

urllib.request.urlopen("https://example.com/")
