# must-any: NET_ACCESS, PROC_EXEC
# must-not: DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import docker

docker.from_env().containers.run("alpine", "id")
