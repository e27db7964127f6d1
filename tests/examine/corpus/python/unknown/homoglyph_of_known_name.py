# unknown: yes
import mаth

print(mаth.pi)
