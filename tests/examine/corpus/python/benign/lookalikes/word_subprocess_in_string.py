# must-not: ALL
HELP = "This tool never starts a subprocess and never calls os.system('ls')."
