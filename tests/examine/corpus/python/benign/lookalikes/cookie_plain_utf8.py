# -*- coding: utf-8 -*-
# must-not: ALL
name = 'café'
