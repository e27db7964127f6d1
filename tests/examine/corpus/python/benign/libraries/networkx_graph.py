# must-not: ALL
import networkx as nx

print(nx.shortest_path(nx.path_graph(3), 0, 2))
