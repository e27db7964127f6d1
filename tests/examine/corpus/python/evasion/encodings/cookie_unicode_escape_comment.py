# coding: unicode_escape
# nothing here \x0aimport subprocess
x = 1
