# must-not: ALL
from dateutil.relativedelta import relativedelta

print(relativedelta(months=1))
