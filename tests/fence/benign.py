"""What looks like a token, a push or a race and is none: nothing of this may be reported."""

from tests.fence.evasions import GIVEN, HOME, PERMIT, TOKENS

BENIGN: dict[str, str] = {
    "plain-import": TOKENS,
    "import-with-own-name": TOKENS.strip() + " as NpmInstallCapability\n",
    "import-under-another-token-name": TOKENS.strip() + " as _NpmInstallCapability\n",
    "import-of-the-home": HOME + "tokens.mint(1)\n",
    "annotation": TOKENS
    + "def f(t: NpmInstallCapability) -> NpmInstallCapability:\n    return t\n",
    "optional-annotation": TOKENS + "def f(t: NpmInstallCapability | None = None): ...\n",
    "quoted-annotation": "def f(t: 'NpmInstallCapability'): ...\n",
    "annotated-variable": TOKENS + "held: list[NpmInstallCapability] = []\n",
    "class-in-annotation": TOKENS
    + "def f(kind: type[NpmInstallCapability]) -> str:\n    return kind.__name__\n",
    "isinstance": TOKENS + "def f(x):\n    return isinstance(x, NpmInstallCapability)\n",
    "isinstance-of-several": TOKENS
    + "def f(x):\n    return isinstance(x, (NpmInstallCapability, int))\n",
    "isinstance-of-a-union": TOKENS
    + "def f(x):\n    return isinstance(x, NpmInstallCapability | int)\n",
    "issubclass": TOKENS + "def f(x):\n    return issubclass(x, NpmInstallCapability)\n",
    "match-class": TOKENS
    + "def f(x):\n    match x:\n        case NpmInstallCapability(packages=p):\n            return p\n",
    "type-is": TOKENS + "def f(x):\n    return type(x) is NpmInstallCapability\n",
    "type-in": TOKENS + "def f(x):\n    return type(x) in (NpmInstallCapability,)\n",
    "cast": TOKENS
    + "from typing import cast\ndef f(x):\n    return cast(NpmInstallCapability, x)\n",
    "cast-by-module": TOKENS
    + "import typing\ndef f(x):\n    return typing.cast(NpmInstallCapability, x)\n",
    "type-variable": TOKENS
    + "from typing import TypeVar\nT = TypeVar('T', bound=NpmInstallCapability)\n",
    "union-alias": TOKENS + "Any = NpmInstallCapability | int\n",
    "generic-base": TOKENS
    + "from typing import Generic\nclass X(Store[NpmInstallCapability]): ...\n",
    "plain-dataclass-field": TOKENS
    + "from dataclasses import dataclass\n@dataclass\nclass X:\n    t: NpmInstallCapability\n",
    "type-checking-block": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    " + TOKENS,
    "name-of-the-class": TOKENS + "print(NpmInstallCapability.__name__)\n",
    "schema-of-the-class": TOKENS + "NpmInstallCapability.model_json_schema()\n",
    "shown-in-text": TOKENS + "x = f'{NpmInstallCapability}'\n",
    "names-as-data": "NAMES = ('NpmInstallCapability', 'FsReadWriteCapability')\n",
    "name-in-a-message": "raise ValueError('no NpmInstallCapability was given')\n",
    "name-as-a-key": "payload = {}\npayload['NpmInstallCapability']\n",
    "name-compared": "def f(kind):\n    return kind == 'NpmInstallCapability'\n",
    "all-list": TOKENS + "__all__ = ['NpmInstallCapability']\n",
    "docstring": '"""Makes NpmInstallCapability() with git push."""\n',
    "comment": "# NpmInstallCapability() and git push\n",
    "deleted": TOKENS + "del NpmInstallCapability\n",
    "fallback": "try:\n    from x import NpmInstallCapability\nexcept ImportError:\n    NpmInstallCapability = None\n",
    "token-used": GIVEN + "return token.packages\n",
    "token-passed": GIVEN + "return install(token, token.packages)\n",
    "token-minted": "from consentry.decide.tokens import mint\ntoken = mint(1, 2)\n",
    "class-for-mint": TOKENS
    + "import consentry\nconsentry.mint(NpmInstallCapability, consent=1)\n",
    "class-for-imported-mint": TOKENS
    + "from consentry.decide.tokens import mint\nmint(NpmInstallCapability, {}, 1, 2, 3)\n",
    "class-for-a-part": TOKENS
    + "from consentry.decide.tokenparts import part_of\npart_of(1, NpmInstallCapability)\n",
    "token-dumped": GIVEN + "return token.model_dump()\n",
    "other-copied": GIVEN + "import copy\n    return copy.copy({})\n",
    "text-replaced": GIVEN + "return 'x'.replace(token.name, 'y')\n",
    "capability-of-saved-code": "from consentry.decide.capabilities import Capability\nCapability(code='x')\n",
    "capabilities-plural": "ServerCapabilities(tools=1)\n",
    "method-in-camel-case": "device.hasCapability('x')\n",
    "lower-case": "capability(1)\nnpm_install_capability()\n",
    "own-permit": "class Permit:\n    ...\nPermit()\n",
    "permit-order": "from consentry.decide.permit import PermitOrder\nPermitOrder(1)\n",
    "permit-annotated": PERMIT + "def f(p: Permit) -> str:\n    return p.permit_id\n",
    "permit-spent": PERMIT + "def f(p: Permit):\n    return p.spent('a', 'b', 1)\n",
    "git-status": "run(['git', 'status'])\n",
    "git-stash-push": "run(['git', 'stash', 'push'])\n",
    "git-fetch": "import os\nos.system('git fetch origin')\n",
    "git-log-of-push": "run(['git', 'log', '--grep', 'push'])\n",
    "git-remote": "run(['git', 'remote', '-v'])\n",
    "push-of-a-stack": "stack.push('git')\n",
    "prose-about-a-push": "print('we never git push from here')\n",
    "help-about-a-push": "help = 'use git push to publish'\n",
    "push-somewhere-else": "run(['docker', 'push', 'image'])\n",
    "digits": "x = 'digit push'\n",
    "race-handled": "def f(p):\n    try:\n        p.open(on_race=print)\n    except FilesystemRace:\n        pass\n",
    "race-handled-by-base": "def f(p):\n    try:\n        p.open(on_race=print)\n    except (ConsentryError, OSError) as e:\n        raise X from e\n",
    "race-placed-and-raised": "def f(p):\n    try:\n        p.open(on_race=print)\n    except FilesystemRace as race:\n        race.at(1)\n        raise\n",
    "race-suppressed": "from contextlib import suppress\ndef f(p):\n    with suppress(FilesystemRace):\n        p.open(on_race=print)\n",
    "race-handled-by-callers": "def _g(p):\n    return p.open(on_race=print)\ndef f(p):\n    try:\n        return _g(p)\n    except FilesystemRace:\n        return None\n",
    "race-handled-two-up": "def _a(p):\n    return p.read(1, on_race=print)\ndef _b(p):\n    return _a(p)\ndef f(p):\n    try:\n        return _b(p)\n    except Refused:\n        return None\n",
    "race-passed-on": "def f(p, *, on_race):\n    return p.open(on_race=on_race)\n",
    "race-kept": "def f():\n    return Reader(on_race=print)\n",
    "other-open": "def f(p):\n    return p.open('rb')\n",
}
