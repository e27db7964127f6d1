# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
from django.utils.module_loading import import_string

import_string("os.system")("id")
