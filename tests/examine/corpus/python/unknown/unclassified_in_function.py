# unknown: yes
def later():
    import packagenobodyknows_late as p
    return p
