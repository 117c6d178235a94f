"""The global optimum at small scale: branch and bound over the sets h*, and its certificate."""
