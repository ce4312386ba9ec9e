-- Nothing to do: PostgreSQL keeps the words of all spaces in one table.
SELECT 1;
