"""GLML: a local metric from generative models (Noh, Zhang, Lee 2010, 2018)."""
