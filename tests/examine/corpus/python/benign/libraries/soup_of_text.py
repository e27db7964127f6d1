# must-not: ALL
from bs4 import BeautifulSoup

print(BeautifulSoup("<p>x</p>", "html.parser").p.text)
