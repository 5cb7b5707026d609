# Read in each environment, before the file that -var-file names.
owner = "platform team"
