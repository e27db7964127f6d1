# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import binascii, os

getattr(os, binascii.unhexlify("73797374656d").decode())("id")
