# must-not: ALL
def total(cursor):
    cursor.exec("SELECT sum(price) FROM orders")
    return cursor.fetchone()[0]
