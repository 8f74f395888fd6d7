"""Migrations of the tables of debates."""
