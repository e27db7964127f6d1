# must-not: ALL
import random
import statistics

print(statistics.mean([random.random() for _ in range(9)]))
