# must-not: ALL
import logging

logger = logging.getLogger(__name__)
logger.info("exec %s", "x")
