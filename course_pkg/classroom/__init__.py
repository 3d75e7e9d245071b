"""The program ``course``: what is done, what is next, and a verdict on a sheet from a terminal."""
