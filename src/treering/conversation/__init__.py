"""A conversation: everything said is kept, the right part of it is sent, and the limit is never passed."""
