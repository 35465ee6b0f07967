"""hocmim: feature selection by high-order conditional mutual information."""
