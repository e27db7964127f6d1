# must: NET_ACCESS
# must-not: FS_WRITE_ROOTS, DYNAMIC_CODE_LOAD
import paramiko

client = paramiko.SSHClient()
client.connect("host.example.com", port=22)
