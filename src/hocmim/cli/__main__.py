"""``python -m hocmim.cli``."""

from hocmim.cli import main

if __name__ == "__main__":  # the processes of a Dask cluster import this module
    main()
