# must-any: PROC_EXEC, CRYPTO_PRIMITIVES
import gnupg

gnupg.GPG().encrypt("x", "a@example.com")
