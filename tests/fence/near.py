"""Ways to a token that do not name its class where they use it: through what lies near it.

Each has to be reported, by whichever rule; `tests/fence/evasions.py` has those that one rule is for.
"""

from tests.fence.evasions import GIVEN, HOME, TOKENS

NEAR: dict[str, str] = {
    "typevar-bound": TOKENS
    + "from typing import TypeVar\nV=TypeVar('V',bound=NpmInstallCapability)\nV.__bound__()\n",
    "typevar-constraints": TOKENS
    + "from typing import TypeVar\nV=TypeVar('V',NpmInstallCapability,int)\nV.__constraints__[0]()\n",
    "newtype-super": TOKENS
    + "from typing import NewType\nN=NewType('N',NpmInstallCapability)\nN.__supertype__()\n",
    "annotations-module": TOKENS + "x: NpmInstallCapability\n__annotations__['x']()\n",
    "annotations-vars": TOKENS
    + "class C:\n    x: NpmInstallCapability\nvars(C)['__annotations__']['x']()\n",
    "annotations-getattr": TOKENS
    + "class C:\n    x: NpmInstallCapability\ngetattr(C,'__annotations__')['x']()\n",
    "dataclass-field-type": TOKENS
    + "import dataclasses\n@dataclasses.dataclass\nclass C:\n    x: NpmInstallCapability\ndataclasses.fields(C)[0].type()\n",
    "inspect-signature": TOKENS
    + "import inspect\ndef f(x: NpmInstallCapability): ...\ninspect.signature(f).parameters['x'].annotation()\n",
    "class-getitem-assigned": TOKENS
    + "class B:\n    def __class_getitem__(cls, k): return k()\nx = B[NpmInstallCapability]\n",
    "getitem-annotation": TOKENS
    + "class B:\n    def __class_getitem__(cls, k): return k()\nx: B[NpmInstallCapability]\n",
    "getitem-instance": TOKENS
    + "class B:\n    def __getitem__(self, k): return k()\nb=B()\nx = b[NpmInstallCapability]\n",
    "getitem-ann-arg": TOKENS
    + "class B:\n    def __class_getitem__(cls, k): return k()\ndef f(x: B[NpmInstallCapability]): ...\n",
    "getitem-as-base": TOKENS
    + "class B:\n    def __class_getitem__(cls, k):\n        k()\n        return B\nclass C(B[NpmInstallCapability]): ...\n",
    "ror-operator": TOKENS
    + "class B(type):\n    def __ror__(cls, k): return k()\nclass C(metaclass=B): ...\nx = NpmInstallCapability | C\n",
    "or-annot": TOKENS
    + "class B(type):\n    def __ror__(cls, k): return k()\nclass C(metaclass=B): ...\ndef f(x: NpmInstallCapability | C): ...\n",
    "binop-assigned-or": TOKENS
    + "class A:\n    def __or__(s,k): return k()\nx = A() | NpmInstallCapability\n",
    "compare-is-type-eq": TOKENS
    + "class A(type):\n    def __eq__(s,k): return k()\nclass B(metaclass=A): ...\ntype(B()) == NpmInstallCapability\n",
    "from-consentry-star-globals": "from consentry import *\nfor n,k in list(globals().items()):\n    if n.startswith('Npm'): k()\n",
    "star-globals-values": "from consentry.decide.tokens import *\n[k() for k in globals().values() if isinstance(k,type)]\n",
    "star-locals": "from consentry.decide.tokens import *\n[k() for k in locals().values()]\n",
    "star-vars": "from consentry.decide.tokens import *\n[k() for k in vars().values()]\n",
    "own-globals-dyn": TOKENS + "def f(n): return globals()[n]()\n",
    "own-globals-last": TOKENS + "list(globals().values())[-1]()\n",
    "own-vars-popitem": TOKENS + "vars().popitem()[1]()\n",
    "own-dict-frame": TOKENS + "import sys\nsys._getframe().f_globals.popitem()[1]()\n",
    "own-module-obj": TOKENS
    + "import sys\nm=sys.modules[__name__]\nfor n in dir(m): getattr(m,n)()\n",
    "own-main": TOKENS + "import __main__\nfor n in dir(__main__): getattr(__main__,n)()\n",
    "eval-bytes": TOKENS + "eval(bytes([78,112,109,40,41]))\n",
    "eval-unknown-in-file": TOKENS + "def f(s): eval(s)\n",
    "timeit": TOKENS
    + "import timeit\ntimeit.timeit('NpmInstallCapability()', globals=globals())\n",
    "pdb-run": TOKENS + "import pdb\npdb.run('NpmInstallCapability()')\n",
    "cProfile-run": TOKENS + "import cProfile\ncProfile.run('NpmInstallCapability()')\n",
    "subprocess-python-c": "import subprocess,sys\nsubprocess.run([sys.executable,'-c','from consentry.decide.tokens import NpmInstallCapability; NpmInstallCapability()'])\n",
    "ast-literal-compile": TOKENS
    + "import ast\nexec(compile(ast.parse('NpmInstallCapability()'),'','exec'))\n",
    "importlib-exec": "import importlib\nm=importlib.import_module('.tokens','consentry.decide')\n",
    "importlib-pkg-dyn": "import importlib\ndef f(n): m=importlib.import_module('consentry.decide.'+n); return vars(m)\n",
    "importlib-decide": "import importlib\nm=importlib.import_module('consentry.decide')\nm.tokens\n",
    "sys-modules-get": "import sys\nsys.modules.get('consentry.decide.tokens')\n",
    "sys-modules-alias": "from sys import modules as m\nm['consentry.decide.tokens']\n",
    "sys-modules-items-consentry": "import sys\n[m for n,m in sys.modules.items() if 'consentry' in n]\n",
    "find-spec": "import importlib.util\ns=importlib.util.find_spec('consentry.decide.tokens'); m=s.loader.load_module()\n",
    "runpy": "import runpy\nrunpy.run_module('consentry.decide.tokens')\n",
    "module-getattr": HOME + "tokens.__getattribute__('Npm'+x)\n",
    "module-dict-alias": HOME + "d = tokens.__dict__\n",
    "module-mint-globals": "from consentry.decide.tokens import mint\nmint.__globals__\n",
    "consentry-mint-globals": "from consentry import mint\nmint.__func__.__globals__\n",
    "mint-closure": "import consentry\nconsentry.mint.__self__\n",
    "mint-annotations": "from consentry.decide.tokens import mint\nmint.__annotations__\n",
    "tokens-private": "from consentry.decide.tokens import _PARTS\n_PARTS['npm']()\n",
    "tokens-PARTS-attr": HOME + "tokens._PARTS['npm']()\n",
    "tokens-Single": "from consentry.decide.tokens import Single\nSingle.__args__[0]()\n",
    "tokens-AnyToken": "from consentry.decide.tokens import AnyToken\nAnyToken.__bound__\n",
    "tokens-BaseToken-subclasses": "from consentry.decide.tokens import BaseToken\nBaseToken.__subclasses__()[0]()\n",
    "tokenparts-Part": "from consentry.decide.tokenparts import Part\nPart.__constraints__[0]()\n",
    "tokenparts-module": "from consentry.decide import tokenparts\nvars(tokenparts)\n",
    "service-tokencalls-mod": "from consentry.service import tokencalls\nvars(tokencalls)\n",
    "service-calls-getattr": "from consentry.service import tokenfiles\nfor n in dir(tokenfiles): getattr(tokenfiles,n)()\n",
    "token-class-getattr": GIVEN + "return getattr(token,'__class__')()\n",
    "token-class-attr-dict": GIVEN + "return object.__getattribute__(token,'__class__')()\n",
    "token-deepcopy-list": GIVEN + "import copy\n    return copy.deepcopy([token])[0]\n",
    "token-copy-in-dict": GIVEN + "import copy\n    return copy.deepcopy({'a': token})\n",
    "token-setattr-loop": GIVEN + "for t in [token]:\n        object.__setattr__(t,'a',1)\n",
    "token-list-idx": GIVEN + "x=[token]\n    x[0].model_copy()\n",
    "token-lambda": GIVEN + "(lambda t: t.model_copy())(token)\n",
    "token-getattr-copy": GIVEN + "return getattr(token,'model_copy')()\n",
    "token-getattr-dyn": GIVEN + "m='model_'+'copy'\n    return getattr(token,m)()\n",
    "token-methodcaller": GIVEN
    + "import operator\n    return operator.methodcaller('model_copy')(token)\n",
    "token-map-copy": GIVEN + "import copy\n    return list(map(copy.copy,[token]))\n",
    "token-operator-attrgetter-class": GIVEN
    + "import operator\n    return operator.attrgetter('__class__')(token)()\n",
    "token-match-class": GIVEN + "match token:\n        case object(__class__=k): return k()\n",
    "token-match-capt": TOKENS
    + "def f(x):\n    match x:\n        case NpmInstallCapability(__class__=k): return k()\n",
    "mint-monkeypatched": TOKENS
    + "import consentry\nconsentry.mint = lambda k: k()\nconsentry.mint(NpmInstallCapability)\n",
    "mint-setattr": TOKENS
    + "import consentry\nsetattr(consentry,'mint',lambda k: k())\nconsentry.mint(NpmInstallCapability)\n",
    "mint-globals-set": TOKENS
    + "from consentry import mint\nglobals()['mint']=lambda k:k()\nmint(NpmInstallCapability)\n",
    "mint-globals-update": TOKENS
    + "from consentry import mint\nglobals().update(mint=lambda k:k())\nmint(NpmInstallCapability)\n",
    "mint-import-star": TOKENS
    + "from consentry import mint\nfrom evil import *\nmint(NpmInstallCapability)\n",
    "isinstance-import-star": TOKENS + "from evil import *\nisinstance(1, NpmInstallCapability)\n",
    "isinstance-globals": TOKENS
    + "globals()['isinstance']=lambda a,k:k()\nisinstance(1, NpmInstallCapability)\n",
    "cast-own-module": TOKENS
    + "import typing\ntyping.cast = lambda k,x: k()\ntyping.cast(NpmInstallCapability, 1)\n",
    "permit-own-class-star": "class Permit: ...\nfrom consentry.decide.permit import *\nPermit()\n",
    "permit-own-nested-class": "from consentry.decide.permit import *\ndef f():\n    class Permit: ...\nPermit()\n",
    "permit-make-handed": "from consentry.decide.permit import make_permit\nf(make_permit)\n",
    "permit-make-assign": "from consentry.decide.permit import make_permit\nx = make_permit\n",
    "nfkc-consentry": "from \U0001d41consentry.decide.tokens import *\n[k() for k in globals().values()]\n",
    "module-getattr-hook": TOKENS + "def __getattr__(n): return globals()['NpmInstall'+n]\n",
    "typeguard": TOKENS
    + "from pydantic import validate_call as v\n@v\ndef f(t: NpmInstallCapability): ...\n",
    "inner-quoted-model": "from pydantic import BaseModel\nfrom consentry.decide.tokens import NpmInstallCapability\nclass W(BaseModel):\n    t: 'NpmInstallCapability'\nW(t={})\n",
    "typeadapter-str": "from pydantic import TypeAdapter\nfrom consentry.decide.tokens import NpmInstallCapability\nTypeAdapter('NpmInstallCapability').validate_python({})\n",
    "yaml-unsafe": "import yaml\nyaml.unsafe_load('!!python/object/apply:consentry.decide.tokens.NpmInstallCapability []')\n",
    "yaml-load": "import yaml\nyaml.load('!!python/object/apply:consentry.decide.tokens.NpmInstallCapability []', Loader=yaml.Loader)\n",
    "pickle-const-no-name": "import pickle\npickle.loads(b'cconsentry.decide.tokens\\nNpmInstallCapability\\n)R.')\n",
    "pickle-unpickler": "import pickle,io\npickle.Unpickler(io.BytesIO(b'cconsentry.decide.tokens\\nNpmInstallCapability\\n)R.')).load()\n",
    "jsonpickle": 'import jsonpickle\njsonpickle.decode(\'{"py/object": "consentry.decide.tokens.NpmInstallCapability"}\')\n',
    "entrypoint-kw": "from importlib.metadata import EntryPoint\nEntryPoint(name='a',value='consentry.decide.tokens:NpmInstallCapability',group='g').load()()\n",
    "logging-dictconfig": "import logging.config\nlogging.config.dictConfig({'version':1,'formatters':{'a':{'()':'consentry.decide.tokens.NpmInstallCapability'}}})\n",
    "logging-const": "C={'()':'consentry.decide.tokens.NpmInstallCapability'}\nimport logging.config\nlogging.config.dictConfig(C)\n",
    "hydra": "hydra.utils.instantiate({'_target_':'consentry.decide.tokens.NpmInstallCapability'})\n",
    "union-args-inline": TOKENS + "(NpmInstallCapability | None).__args__[0]()\n",
    "isinstance-metaclass": TOKENS
    + "class M(type):\n    def __instancecheck__(cls,o): return o()\nclass X(metaclass=M): ...\nisinstance(NpmInstallCapability, X)\n",
}
