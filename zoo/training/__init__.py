"""Training under Lightning: the module, optimisation, callbacks and run records."""
