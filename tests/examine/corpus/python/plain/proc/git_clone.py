# must: NET_ACCESS, PROC_EXEC
# must-not: DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from git import Repo

Repo.clone_from("https://git.example.com/x.git", "x")
