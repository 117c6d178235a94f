"""`python -m validation.cases`: see generate.py."""

from validation.cases.generate import main

if __name__ == "__main__":
    raise SystemExit(main())
