# unknown: yes
from packagenobodyknows_star import *
