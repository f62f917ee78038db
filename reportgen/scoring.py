"""From a record to what it says: the one place where archive and analysis meet."""
