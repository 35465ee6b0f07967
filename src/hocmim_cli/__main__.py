"""``python -m hocmim_cli``."""

from hocmim_cli import main

main()
