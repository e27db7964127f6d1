"""The shape of the database, one file for each group of tables, in both dialects."""
