# must: NET_ACCESS
import asyncssh

async def main():
    await asyncssh.connect("host.example.com")
