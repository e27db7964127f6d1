# coding: latin-1
import subprocess
