# unknown: yes
exec "x = 1"
