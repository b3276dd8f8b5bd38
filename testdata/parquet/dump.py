"""Writes the tables of an SQLite database as CSV, and their columns as schema.json, for make.mjs."""
import json, os, sqlite3, sys

source, out = sys.argv[1:3]
os.makedirs(out, exist_ok=True)
db = sqlite3.connect(source)


def kind(declared):
    declared = declared.upper()
    return "BIGINT" if "INT" in declared else "DOUBLE" if declared in ("REAL", "FLOAT", "DOUBLE") else "VARCHAR"


schema = []
for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
    schema.append([table, [(row[1], kind(row[2])) for row in db.execute(f'PRAGMA table_info("{table}")')]])
    with open(f"{out}/{table}.csv", "w") as f:
        for row in db.execute(f'SELECT * FROM "{table}"'):
            f.write(",".join("\\N" if v is None else '"' + str(v).replace('"', '""') + '"' for v in row) + "\n")
json.dump(schema, open(f"{out}/schema.json", "w"))
