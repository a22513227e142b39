; Definitions are read statement by statement: see `definitions_only/sql.py`.
