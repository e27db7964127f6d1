# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, CRYPTO_PRIMITIVES
import os

def call(name):
    return vars(os)[name]
