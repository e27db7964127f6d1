"""What the secret filter knows, as data: names that announce a secret, shapes, programs and options.

Adding a row here is all it takes to teach `secretfilter` a new one. Nothing in this module decides.
"""

HIDDEN = "[hidden]"
"""What stands in the place of a secret."""

# Names. Words are joined first, so DB_PASSWORD, clientSecret, X-Api-Key and PGPASSWORD all end in one.
SECRET_ENDINGS = (
    *("password", "passwd", "passphrase", "passcode", "secret", "token", "bearer", "credential"),
    *("credentials", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey"),
    *("signingkey", "encryptionkey", "masterkey", "sharedkey", "sharedaccesssignature"),
)
# Words that say so only when they stand alone or last: DB_PASS, but not "compass".
SECRET_LAST_WORDS = {
    *("pass", "passin", "passout", "pw", "pwd", "auth", "cookie", "jwt", "pat", "sas", "otp")
}
# Secret in the query of a URL only.
SECRET_QUERY_WORDS = {"sig", "signature"}
# Secrets whose options often take the name of a file, which is shown.
OFTEN_FILES = ("privatekey", "credential", "credentials", "cookie")
# A last word that leaves a secret name secret.
QUALIFIERS = {"value", "hash", "raw", "b64", "base64", "new", "old"}
# A first word that makes an option a switch without a value.
SWITCH_WORDS = {"no", "ask", "prompt", "show", "require", "generate", "without", "skip", "disable"}
# Variables that sound secret and hold a folder.
FOLDER_NAMES = {"PWD", "OLDPWD"}

AUTHORIZATION_HEADERS = {"authorization", "proxy-authorization"}
AUTHORIZATION_SCHEMES = ("bearer", "basic", "token", "digest", "negotiate", "apikey")
HEADER_OPTIONS = {"-H", "--header", "--proxy-header"}

# Options of single programs. "next": the value is the next argument; "joined": the rest of this one.
USER_AND_PASSWORD_OPTIONS = {
    **dict.fromkeys(("curl -u", "curl -U", "http -a", "https -a"), ("next", "joined")),
    **dict.fromkeys(("curl --user", "curl --proxy-user", "http --auth", "https --auth"), ("next",)),
}
PASSWORD_OPTIONS = {
    **dict.fromkeys(("sshpass -p", "ldapsearch -w", "ldapmodify -w"), ("next", "joined")),
    **dict.fromkeys(("mysql -p", "mysqldump -p", "mysqladmin -p", "mariadb -p"), ("joined",)),
    **dict.fromkeys(("7z -p", "7za -p", "7zz -p"), ("joined",)),
    **dict.fromkeys(("mongosh -p", "mongodump -p", "mongorestore -p", "redis-cli -a"), ("next",)),
    **dict.fromkeys(("zip -P", "unzip -P", "sqlcmd -P", "bcp -P"), ("next",)),
    **dict.fromkeys(("docker login -p", "podman login -p", "helm login -p"), ("next",)),
}
# Programs that start the program named after them.
WRAPPERS = {"env", "sudo", "doas", "nice", "nohup", "timeout", "time", "stdbuf", "setsid", "exec"}

# Programs that read any argument as code, and programs that do so after one of the options.
SHELLS = {
    *("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox", "pwsh", "powershell", "cmd"),
    *("ssh", "su", "eval", "xargs", "parallel", "watch", "flock", "script", "make"),
}
INTERPRETERS = {*SHELLS, "python", "perl", "ruby", "node", "deno", "bun", "php", "awk", "expect"}
CODE_OPTIONS = {"-c", "-e", "-E", "-S", "-lc", "-ec", "-exec", "--command", "--eval", "-Command"}

# Shapes of well-known tokens: regular expressions, open-ended, so that a match takes all of a token.
TOKEN_SHAPES = (
    r"gh[opsur]_[A-Za-z0-9]{20,}",  # GitHub
    r"github_pat_\w{20,}",
    r"gl(?:pat|ptt|dt|rt|cbt|ft|soat|oas|agent)-[\w-]{16,}",  # GitLab
    r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}",  # Slack
    r"(?<=://hooks\.slack\.com/services/)[\w/]+",
    r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}",  # Stripe
    r"sk-(?=[A-Za-z_-]{0,48}[0-9])[\w-]{20,}",  # OpenAI, Anthropic and others who followed them
    r"AIza[\w-]{35,}",  # Google
    r"ya29\.[\w-]{20,}",
    r"GOCSPX-[\w-]{20,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pyp[i]-AgE[\w-]{20,}",  # the Python package index
    r"hf_[A-Za-z0-9]{30,}",  # Hugging Face
    r"hv[sb]\.[\w-]{20,}",  # HashiCorp Vault
    r"do[opr]_v1_[a-f0-9]{40,}",  # DigitalOcean
    r"dckr_pat_[\w-]{20,}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{30,}",  # Shopify
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}",
)
# The same, made of parts with a dot between them: JSON web tokens, SendGrid.
DOTTED_TOKEN_SHAPES = (
    r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
    r"SG\.[\w-]{16,}\.[\w-]{16,}",
)

# Folders that make a value plainly a path.
ROOT_FOLDERS = (
    *("usr", "bin", "sbin", "etc", "home", "root", "tmp", "var", "opt", "srv", "mnt", "media"),
    *("dev", "proc", "sys", "run", "lib", "lib64", "boot", "Users", "Volumes"),
)
