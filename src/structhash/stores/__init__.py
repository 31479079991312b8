"""Codes in the databases that users have: export, search, remove, info.

Each store is a piece in this folder: a subclass of `structhash.stores.base.Store` in a file of its own. It
gives the distances and the order of `structhash.search.Exact`. `structhash.stores.bulk_files` makes files that
servers read.
"""

from structhash.stores.base import Store, StoreInfo
from structhash.stores.duckdb import Duckdb
from structhash.stores.pgvector import PGVector
from structhash.stores.postgres import Postgres
from structhash.stores.sqlite import SQLite

__all__ = ["Duckdb", "PGVector", "Postgres", "SQLite", "Store", "StoreInfo"]
