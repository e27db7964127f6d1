# must: PROC_EXEC
# must-not: NET_ACCESS, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import ffmpeg

ffmpeg.input("a.mp4").output("b.mp4").run()
