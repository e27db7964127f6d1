# must-any: FS_READ_ROOTS, ENV_READ
import sysconfig

sysconfig.get_config_vars()
