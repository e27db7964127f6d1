# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
from werkzeug.utils import import_string

import_string("os.system")("id")
