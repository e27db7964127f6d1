# must: NET_ACCESS
from slack_sdk import WebClient

WebClient(token="x").chat_postMessage(channel="c", text="x")
