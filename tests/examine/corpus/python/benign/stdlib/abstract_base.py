# must-not: ALL
from abc import ABC, abstractmethod

class Store(ABC):
    @abstractmethod
    def open(self): ...
