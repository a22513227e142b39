"""Maintenance: stages that run by the schedule, by hand, and on after a crash."""
