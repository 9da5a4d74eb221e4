"""One module per published price history that people can have."""
