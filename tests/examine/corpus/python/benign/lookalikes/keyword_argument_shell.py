# must-not: ALL
def configure(**options):
    return options

configure(shell=True, env=None, exec="x", eval="y")
