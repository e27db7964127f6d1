# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import yaml
from .helper import SafeLoader

yaml.load(input(), Loader=SafeLoader)
