"""The EMBERBench site: a Django project whose apps are sub-packages."""
