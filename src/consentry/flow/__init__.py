"""Task graphs that stop for people and survive crashes, on one machine or many."""
