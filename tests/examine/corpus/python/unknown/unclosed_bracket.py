# unknown: yes
x = (1, 2
