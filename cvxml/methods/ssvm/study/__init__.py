"""What the paper runs and we do not need: the greedy inference, stochastic gradient descent; and integer programs."""
