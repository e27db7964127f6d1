"""What the guard knows about modules and distributions: tables as data, and their reader."""
