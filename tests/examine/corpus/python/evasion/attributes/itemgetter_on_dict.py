# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
from operator import itemgetter
import os

itemgetter("system")(vars(os))("id")
