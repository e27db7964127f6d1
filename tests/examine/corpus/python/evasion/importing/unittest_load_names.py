# must: DYNAMIC_CODE_LOAD
import unittest

unittest.defaultTestLoader.loadTestsFromName("plugins.x")
