"""What the runs app tells apps above it, which it does not know."""

from django.dispatch import Signal

queue_swept = Signal()
"""A worker has swept the queue, as it does every few seconds while there is work: a time to tidy up."""
