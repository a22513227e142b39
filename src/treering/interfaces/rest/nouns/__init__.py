"""The routes of the API, one module per noun."""
