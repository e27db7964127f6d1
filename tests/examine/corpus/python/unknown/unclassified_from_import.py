# unknown: yes
from anotherpackagenobodyknows.deep.inside import thing

thing()
