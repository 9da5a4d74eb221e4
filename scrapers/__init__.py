"""The outside world, turned into offers in the providers' own words. Knows nothing of the warehouse."""
