"""What a power is: the lattice of surfaces and the tables of names that compile into it.

A surface is a typed set of powers in eight dimensions. Every question the product asks is one of
four operations on surfaces: join `|`, meet `&`, cover `<=`, and difference `-`.
"""
