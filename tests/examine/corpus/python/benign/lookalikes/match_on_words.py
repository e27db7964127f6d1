# must-not: ALL
def act(word):
    match word:
        case "exec" | "eval":
            return 1
        case _:
            return 2

act("open")
