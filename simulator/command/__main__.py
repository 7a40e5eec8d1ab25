"""``python -m simulator.command`` is ``ember``."""

from simulator.command.main import main

main()
