# must: DYNAMIC_CODE_LOAD
import dataclasses

dataclasses._create_fn("f", ["x"], ["import os"], globals={})
