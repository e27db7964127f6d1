# must-not: ALL
import configparser

reader = configparser.ConfigParser()
reader.read_string("[a]\nb = 1")
print(reader["a"]["b"])
