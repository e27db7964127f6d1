# must: NET_ACCESS
import smbclient

smbclient.open_file(r"\\example.com\x\y")
