"""Where numbers come from: asv suites, measured in paired workers."""
