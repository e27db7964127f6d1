# coding: big5
name = '功'
import subprocess
