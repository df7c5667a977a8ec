"""Files that other tools own: one module per tool, each read to a result set."""
