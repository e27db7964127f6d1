# must: PROC_EXEC
import git

git.Git().execute(["id"])
