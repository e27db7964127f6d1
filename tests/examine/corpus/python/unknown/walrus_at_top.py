# unknown: yes
x := 1
