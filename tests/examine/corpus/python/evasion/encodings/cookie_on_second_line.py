#!/usr/bin/env python3
# vim: set fileencoding=utf-7 :
+AGUAeABlAGM-("x = 1")
