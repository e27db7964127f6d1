# coding: nothing-known
import subprocess
