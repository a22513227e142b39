"""Where is …? Chunks of code found by their words and their meaning."""
