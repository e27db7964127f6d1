# must: NET_ACCESS
import sentry_sdk

sentry_sdk.init("https://key@sentry.example.com/1")
