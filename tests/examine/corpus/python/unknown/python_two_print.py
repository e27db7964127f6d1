# unknown: yes
print "hello"
