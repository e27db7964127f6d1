# must: PROC_EXEC
from fabric import Connection

Connection("host.example.com").local("id")
