# unknown: yes
import somepackagenobodyknows

somepackagenobodyknows.go()
