"""As correct.py, but lam where the paper has lam/2."""

from correct import main, mlsvm

if __name__ == "__main__":
    main({"mlsvm": lambda given: mlsvm(given, weight=1.0)})
