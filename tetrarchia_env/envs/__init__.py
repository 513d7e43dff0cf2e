"""The environment APIs: PettingZoo AEC and parallel, Gymnasium, vector and Stable-Baselines3."""
