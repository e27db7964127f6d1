"""What the secret filter knows, as data: names that announce a secret, shapes, programs and options.

Adding a row here is all it takes to teach `secretfilter` a new one. Nothing in this module decides.
"""

from typing import NamedTuple

HIDDEN = "[hidden]"
"""What stands in the place of a secret."""

# Names. Words are joined first, so DB_PASSWORD, clientSecret, X-Api-Key and PGPASSWORD all end in one.
SECRET_ENDINGS = (
    *("password", "passwd", "passphrase", "passcode", "secret", "token", "bearer", "credential"),
    *("credentials", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey"),
    *("signingkey", "encryptionkey", "masterkey", "sharedkey", "sharedaccesssignature"),
    *("secretstring", "storepass", "keypass"),
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
# Variables that sound secret and hold a folder, and an option that does.
FOLDER_NAMES = {"PWD", "OLDPWD"}
FOLDER_OPTIONS = {"pwd"}
# Settings that sound secret and hold a command: `core.askPass`, `GIT_ASKPASS`, `alias.token`.
COMMAND_ENDINGS = ("askpass",)
COMMAND_SECTIONS = ("alias.", "pager.")

AUTHORIZATION_HEADERS = {"authorization", "proxy-authorization"}
AUTHORIZATION_SCHEMES = ("bearer", "basic", "token", "digest", "negotiate", "apikey")
HEADER_OPTIONS = {"-H", "--header", "--proxy-header"}


class SecretOption(NamedTuple):
    """How an option of one program takes a secret."""

    next: bool = True
    """The value may be the next argument."""
    joined: bool = False
    """The value may be the rest of the same argument."""
    separator: str = ""
    """What stands between a user, who is shown, and the password; without it all is password."""


_NEXT, _JOINED = SecretOption(), SecretOption(next=False, joined=True)
_EITHER = SecretOption(joined=True)
_USER, _LONG_USER = SecretOption(joined=True, separator=":"), SecretOption(separator=":")

# Options of single programs, or of one command of a program. A word without a dash is an option too.
OPTIONS: dict[str, dict[str, SecretOption]] = {
    "curl": {
        **dict.fromkeys(("-u", "-U", "-E"), _USER),
        **dict.fromkeys(("--user", "--proxy-user", "--cert", "--proxy-cert"), _LONG_USER),
    },
    **{key: {"-a": _USER, "--auth": _LONG_USER} for key in ("http", "https", "xh")},
    **{key: {"-U": SecretOption(joined=True, separator="%")} for key in ("smbclient", "rpcclient")},
    "lftp": {"-u": SecretOption(joined=True, separator=",")},
    "sshpass": {"-p": _EITHER},
    **{key: {"-w": _EITHER} for key in ("ldapsearch", "ldapmodify", "ldapadd", "ldapdelete")},
    "ldappasswd": {"-w": _EITHER, "-s": _EITHER, "-a": _EITHER},
    **{key: {"-p": _JOINED} for key in ("mysql", "mysqldump", "mysqladmin", "mysqlimport")},
    **{key: {"-p": _JOINED} for key in ("mysqlshow", "mysqlcheck", "mariadb", "mariadb-dump")},
    **{key: {"-p": _JOINED} for key in ("7z", "7za", "7zz")},
    **{key: {"-p": _JOINED, "-hp": _JOINED} for key in ("rar", "unrar")},
    **{key: {"-p": _EITHER} for key in ("mongosh", "mongo", "mongodump", "mongorestore")},
    **{key: {"-p": _EITHER} for key in ("mongoimport", "mongoexport", "mycli")},
    **{key: {"-P": _EITHER} for key in ("zip", "unzip", "sqlcmd", "bcp")},
    "redis-cli": {"-a": _NEXT},
    "ssh-keygen": {"-N": _EITHER, "-P": _EITHER},
    "openssl enc": {"-k": _NEXT, "-K": _NEXT},
    "ncftpput": {"-p": _NEXT},
    **{key: {"-p": _NEXT} for key in ("useradd", "usermod")},
    **{key: {"-p": _EITHER} for key in ("docker login", "podman login", "helm login")},
    **{key: {"-p": _EITHER} for key in ("az login", "oc login", "twine upload", "poetry publish")},
    **{key: {"login": _NEXT} for key in ("vault login", "cargo login")},
    "gh secret": {"--body": _NEXT, "-b": _NEXT},
}
# Short options without a value, which may stand before another in one argument: `-sSLu`.
SWITCHES = {"curl": "#0123456BGIJLNORSafgijklnpqsv"}
# Commands that take a NAME and a VALUE as two arguments.
PAIR_COMMANDS = {
    *("aws configure", "npm config", "pnpm config", "yarn config", "pip config", "poetry config"),
    *("rclone config", "nmcli dev", "nmcli device", "nmcli connection", "nmcli con"),
}
# Programs that take `user/password@place`, and programs whose last argument is one behind a switch.
SLASH_LOGINS = {"sqlplus", "sqlldr", "expdp", "impdp"}
LAST_ARGUMENT_SWITCHES = {"htpasswd": "b"}
# All of these, and their programs.
COMMANDS = {*OPTIONS, *PAIR_COMMANDS, *SLASH_LOGINS, *LAST_ARGUMENT_SWITCHES}
PROGRAMS = {command.split()[0] for command in COMMANDS}
# Programs that start the program named after them.
WRAPPERS = {"env", "sudo", "doas", "nice", "nohup", "timeout", "time", "stdbuf", "setsid", "exec"}

# Programs that read any argument as code, and programs that do so after one of the options.
SHELLS = {
    *("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox", "pwsh", "powershell", "cmd"),
    *("ssh", "su", "eval", "xargs", "parallel", "watch", "flock", "script", "make"),
}
INTERPRETERS = {
    *SHELLS,
    *("python", "perl", "ruby", "node", "deno", "bun", "php", "awk", "expect", "lua", "tclsh"),
}
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

# URLs whose readers end the part with the password at the first of `/?#`, come what may.
STRICT_SCHEMES = {"http", "https", "ws", "wss", "ftp", "ftps"}

# Folders that make a word plainly a path where a slash may also open a line of a key.
ROOT_FOLDERS = (
    *("usr", "bin", "sbin", "etc", "home", "root", "tmp", "var", "opt", "srv", "mnt", "media"),
    *("dev", "proc", "sys", "run", "lib", "lib64", "boot", "Users", "Volumes"),
)
