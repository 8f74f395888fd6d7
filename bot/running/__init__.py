"""Keeps debates going: in one process, or shared out between replicas on PostgreSQL."""
