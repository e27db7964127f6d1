# must: PROC_EXEC
# must-not: NET_ACCESS, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: PROC_EXEC ssh
import pexpect

pexpect.spawn("ssh host.example.com").sendline("x")
