"""What users get if they do not choose: the method, and the methods that are compared."""

DEFAULT_METHOD = "HOCMIM-R"
COMPARED_METHODS = (DEFAULT_METHOD, "HOCMIM", "CMIM", "mRMR")
