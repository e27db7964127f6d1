# must-not: ALL
import unittest

class TestSum(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(1 + 1, 2)
