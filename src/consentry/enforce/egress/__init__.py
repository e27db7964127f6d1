"""The only way out of a box with network: names and addresses are checked here, and dialled here."""
