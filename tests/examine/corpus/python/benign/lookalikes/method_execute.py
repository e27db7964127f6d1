# must-not: ALL
def report(connection):
    return connection.execute("SELECT 1; -- exec('x')").fetchall()
