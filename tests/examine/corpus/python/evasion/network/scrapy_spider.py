# must: NET_ACCESS
import scrapy

class S(scrapy.Spider):
    name = "s"
    start_urls = ["https://example.com/"]
