"""A zoo of small programs whose logs are measured without anything of `workalike`."""
