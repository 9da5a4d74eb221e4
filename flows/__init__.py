"""When the steps run, and in what order. No logic."""
