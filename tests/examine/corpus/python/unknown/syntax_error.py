# unknown: yes
def f(:
    pass
