"""The commands, one module each: ``hocmim NAME`` is the function NAME of the module NAME.

The first line of a module's docstring is the short help of its command.
"""
