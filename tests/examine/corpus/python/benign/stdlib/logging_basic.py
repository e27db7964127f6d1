# must-not: ALL
import logging

logging.basicConfig(level=logging.INFO, format="%(message)s")
logging.warning("import os")
