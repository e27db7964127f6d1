# -*- coding: utf_7 -*-
# a comment+AAo-import subprocess
x = 1
