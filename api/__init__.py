"""HTTP service and its pages."""
