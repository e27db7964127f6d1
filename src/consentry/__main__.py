"""`python -m consentry` is the same command as `consentry`."""

from consentry.cli.main import main

if __name__ == "__main__":
    main()
