# must-not: ALL
import calendar
import colorsys

print(calendar.monthrange(2024, 2), colorsys.rgb_to_hsv(1, 0, 0))
