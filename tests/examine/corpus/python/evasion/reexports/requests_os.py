# must-any: ENV_READ, DYNAMIC_CODE_LOAD
import requests

requests.sessions.os.environ["TOKEN"]
