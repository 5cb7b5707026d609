servers = 1
