# unknown: yes
try:
    import packagenobodyknows_fast as json
except ImportError:
    import json
