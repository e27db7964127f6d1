# unknown: yes
x = "abc
