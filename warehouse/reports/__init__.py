"""One module per published figure or table; each reads marts only."""
