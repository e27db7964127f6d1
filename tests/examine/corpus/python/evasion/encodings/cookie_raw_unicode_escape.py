# coding: raw_unicode_escape
# nothing here \u000aimport subprocess
