# must-any: NET_ACCESS, CRYPTO_PRIMITIVES
import ssl

ssl.create_default_context().set_ciphers("RC4")
