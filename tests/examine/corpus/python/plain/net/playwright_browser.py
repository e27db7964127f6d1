# must: NET_ACCESS
# must-not: DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from playwright.sync_api import sync_playwright

with sync_playwright() as p:
    p.chromium.launch().new_page().goto("https://example.com/")
