servers = 3
