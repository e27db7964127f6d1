# must: DYNAMIC_CODE_LOAD
import logging.config

def configure(settings):
    logging.config.dictConfig(settings)
