# must: FS_READ_ROOTS, FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS data/a.png
# target: FS_WRITE_ROOTS out/a.png
import cv2

cv2.imwrite("out/a.png", cv2.imread("data/a.png"))
