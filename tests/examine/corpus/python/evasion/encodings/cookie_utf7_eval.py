# -*- coding: utf-7 -*-
+AGUAdgBhAGw-("1")
