"""Keeps debates going; processes that share a database on PostgreSQL share them out."""
