# must-not: ALL
QUERY = "EXEC sp_rename 'a', 'b'; LOAD DATA INFILE '/etc/passwd'"
