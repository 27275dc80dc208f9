"""Everything on one machine: a broker, a worker and the web server under one supervisor."""
