# unknown: yes
import reqeusts

reqeusts.get("x")
