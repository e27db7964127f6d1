# must: NET_ACCESS
import uvicorn

uvicorn.run("app:app", host="127.0.0.1", port=8000)
