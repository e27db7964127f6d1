# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
def call(name, *words):
    return globals()[name](*words)
