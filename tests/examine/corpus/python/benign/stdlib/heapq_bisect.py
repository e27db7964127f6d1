# must-not: ALL
import bisect
import heapq

queue = []
heapq.heappush(queue, 1)
bisect.insort(queue, 2)
