# unknown: yes
import thirdpackagenobodyknows as math

print(math.sqrt(2))
