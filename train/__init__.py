"""Ways of training an agent: one file for each, run as `python -m train.<file>`."""
