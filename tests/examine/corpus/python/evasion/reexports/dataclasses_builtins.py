# must: DYNAMIC_CODE_LOAD
import dataclasses

dataclasses.builtins.eval("1")
