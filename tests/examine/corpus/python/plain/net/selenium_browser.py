# must: NET_ACCESS, PROC_EXEC
# must-not: DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from selenium import webdriver

webdriver.Firefox().get("https://example.com/")
