# must-not: ALL
import os
