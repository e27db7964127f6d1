# coding: iso2022_jp
name = '漢'
import subprocess
