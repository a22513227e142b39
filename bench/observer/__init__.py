"""Recorded sessions through the observer: is what it promotes true, and what does it cost?"""
