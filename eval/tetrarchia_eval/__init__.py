"""Measuring agents: matches between them, the statistics, cross-play, reports and plots."""
