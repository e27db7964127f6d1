# coding: unicode_escape
\x65\x76\x61\x6c("1")
