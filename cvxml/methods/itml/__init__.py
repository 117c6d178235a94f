"""Information-theoretic metric learning (Davis, Kulis, Jain, Sra, Dhillon, ICML 2007)."""
