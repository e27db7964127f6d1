# coding: unicode_escape
x = 'no code \x41'
