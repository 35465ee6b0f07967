"""What users get if they do not choose: the method, the methods that are compared, and K."""

DEFAULT_METHOD = "HOCMIM-R"
DEFAULT_K = 10
COMPARED_METHODS = (DEFAULT_METHOD, "HOCMIM", "CMIM", "mRMR")
