"""``python -m hocmim``: the command ``hocmim``, for where scripts are not on the path."""

from hocmim.cli import main

if __name__ == "__main__":  # the processes of a Dask cluster import this module
    main(prog_name="hocmim")
