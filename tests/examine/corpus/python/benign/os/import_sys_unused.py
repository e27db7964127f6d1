# must-not: ALL
import os, sys
