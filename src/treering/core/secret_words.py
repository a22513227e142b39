"""Words that announce a secret in an assignment, and values that only look like one, as data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SecretWord:
    """A word such as `password`, found by its `stem` in lower-case text."""

    kind: str
    stem: str
    ending: str = ""
    """Regular expression that must match after the stem."""
    owners: tuple[str, ...] = ()
    """One of these must precede it, directly or before a separator: `api_key`, not `key`."""
    alone: bool = False
    """Must not be the end of a longer word."""
    phrase: bool = False
    """Its quoted value may be plain words."""


KEY_OWNERS = (
    "api", "access", "secret", "private", "auth", "account", "encryption", "signing", "master", "service", "deploy",
    "license", "admin", "shared", "app", "application", "storage", "subscription", "webhook", "session", "hmac",
    "integration", "client", "server", "role", "openai", "anthropic", "mistral", "cohere", "gemini", "stripe", "heroku",
    "hubspot", "snyk", "sendgrid", "datadog", "algolia", "asana", "lob", "duffel", "wandb", "readme", "adafruit_io",
    "adafruit io", "aio", "wifi", "wi-fi", "wlan", "wpa", "wpa2",
)  # fmt: skip

SECRET_WORDS = (
    SecretWord("password", "pass", "phrase", phrase=True),
    SecretWord("password", "psk", alone=True, phrase=True),
    SecretWord("password", "pass", r"word|wd|code|wort"),
    SecretWord("password", "pass", "e", owners=("mot de", "mots de", "mot_de", "mot-de", "motde", "palavra")),
    SecretWord("password", "pass", alone=True),
    SecretWord("password", "pw", "d"),
    SecretWord("password", "pw", alone=True),
    SecretWord("password", "mdp", alone=True),
    SecretWord("password", "kennwort"),
    SecretWord("password", "wachtwoord"),
    SecretWord("password", "contrase", "ña|na"),
    SecretWord("password", "senha", alone=True),
    SecretWord("password", "clave", "(?: api)?", alone=True),
    SecretWord("password", "hasło", alone=True),
    SecretWord("password", "lösenord"),
    SecretWord("password", "пароль"),
    SecretWord("password", "密码"),
    SecretWord("password", "密碼"),
    SecretWord("password", "パスワード"),
    SecretWord("password", "비밀번호"),
    SecretWord("api_key", "key", owners=KEY_OWNERS),
    SecretWord("api_key", "schlüssel", owners=("api", "zugangs", "geheim", "zugriffs")),
    SecretWord("api_key", "clé", " (?:d['’])?(?:api|accès|secrète)", alone=True),
    SecretWord("token", "token"),
    SecretWord("token", "jeton", alone=True),
    SecretWord("token", "auth", alone=True),
    SecretWord("secret", "secret"),
    SecretWord("credential", "cred", "entials?|s"),
)

PLAIN_BEFORE = frozenset((
    "next", "page", "continuation", "cancel", "cancellation", "sync", "idempotency", "request", "mask", "pad", "eos",
    "bos", "unk", "sep", "cls", "start", "end", "special", "max", "min", "num", "total", "stop", "prompt", "completion",
    "input", "output", "lock", "first", "last", "current", "cur", "prev", "peek", "by", "bucket", "foreign", "public",
    "no", "without", "forgot", "forgotten", "reset", "change", "is", "has", "show", "hide", "invalid", "missing", "per",
))  # fmt: skip
"""Preceding words that make the secret word harmless: `next_token`, `eos_token`."""

PLAIN_AFTER = frozenset((
    "hash", "hashed", "file", "files", "filename", "path", "dir", "url", "uri", "id", "ids", "name", "names",
    "type", "types", "length", "len", "count", "field", "fields", "policy", "policies", "expiry", "expires",
    "expiration", "expire", "at", "ttl", "env", "var", "regex", "pattern", "prefix", "header", "label", "hint",
    "placeholder", "message", "error", "errors", "required", "limit", "limits", "usage", "budget", "store",
    "manager", "provider", "index", "class", "version", "format", "algorithm", "alg", "endpoint", "arn", "ref",
    "size", "template", "date", "time", "timestamp", "created", "updated", "reset", "rotation", "stdin", "min",
    "max", "changed", "kind", "scheme", "mode", "status", "state", "scope", "scopes", "model", "page", "input",
    "attempts", "ttl_seconds", "encoding", "charset", "column", "icon", "text", "title", "description", "desc",
    "salt", "iterations", "rounds", "strength", "validator", "option", "options", "config", "settings", "alias",
    "fingerprint", "fp", "checksum", "digest", "sha", "sha256", "md5", "lifetime", "age", "days", "hours",
    "seconds", "minutes", "ms", "interval", "enabled", "disabled", "supported", "valid", "invalid", "exists",
    "rules", "backend", "service", "server", "host", "issuer", "audience", "aud", "location", "in", "source",
    "target", "tag", "tags", "key_name", "keyname", "number", "num", "rate", "price", "cost", "per_second",
    "estimate", "latency", "position", "pos", "offset", "line", "col", "start", "end", "idx",
))  # fmt: skip
"""Last words after the secret word that name something else: `password_file`, `token_count`."""

LINKING_VERBS = "is|was|are|were|be|ist|war|lautet|est|était|es|era|é|è|är|to[ ]be|set[ ]to"
LINKING_ADVERBS = (
    "now|still|actually|just|simply|currently|set[ ]to|jetzt|nun|maintenant|toujours|ahora|agora|ora|adesso"
)
ABOUT = "for|of|to|on|in|du|de|pour|für|von|vom|zum|para|del|per|di|do|da|voor"

MESSAGE_WORDS = frozenset((
    "a", "an", "the", "is", "are", "was", "be", "must", "should", "may", "can", "cannot", "not", "no", "of", "for",
    "to", "at", "in", "on", "by", "with", "from", "or", "and", "if", "your", "this", "that", "it", "please", "enter",
    "use", "see", "least", "most", "than", "characters", "chars", "required", "invalid", "expired", "missing", "wrong",
    "password", "passwords", "token", "tokens", "secret", "key", "keys", "field", "value", "string", "user", "username",
    "reset", "change", "new", "old", "login", "hash", "hashed", "type", "error", "minimum", "maximum", "length", "has",
    "when", "will", "only", "all", "any", "none", "optional", "default", "digits", "letters", "step", "page", "version",
))  # fmt: skip
"""Words of messages and labels; a quoted value with one is not a pass phrase."""

DIRECTIVE_WORDS = MESSAGE_WORDS - frozenset((
    "a", "an", "the", "is", "are", "was", "be", "has", "may", "can", "not", "no", "of", "for", "to", "at", "in", "on",
    "by", "with", "from", "or", "and", "if", "this", "that", "it", "new", "old", "when", "will", "only", "all", "any",
)) | frozenset((
    "attempts", "tries", "left", "remaining", "ago", "minutes", "hours", "days", "seconds", "times", "again", "failed",
))  # fmt: skip
"""Words that make a sentence with a number a message: `has 3 attempts left`, not `my dog has 3 legs`."""

STATE_ENDINGS = (
    "ed|ing|[ai]ble|[ae]nt|ect|al|en|ly|ory|ary|less|ful|ic|ive|ous|wn|where|thing|ate|tion|sion|ment|ness|ity|id|ish"
    "|text|string|bytes|data|value"
)
"""Endings of adjectives for a pass phrase: `required`, `incorrect`, `unavailable`."""

TECHNICAL_NAME = (
    r"[sS]3(?![a-z])|(?i:sha\d{1,3}|md\d|base\d\d|b\d\d|utf\d|oauth\d|x509|p12|ec2|http\d|ipv?\d|u?int\d\d?|float\d\d"
    r"|v\d|\dfa|k8s|\d\dn|[rhep]s\d{3}|(?:log|neo)4j|x86|win\d\d|web3|auth0|pbkdf\d|gpt\do?)"
)
"""Digits between letters that do not make a name a credential: `oauth2client`, `sha256sum`."""

PLACEHOLDER = (
    r"^(?:my|your|the|some|an?|enter|insert|replace|put|add|set|ihr|dein|votre|mon|tu|su)[-_ ]"
    r"|your|change[-_]?(?:me|this|it)|placeholder|redacted|dummy|fake|todo|fixme|insert|replace"
    r"|x{4}|\*{3}|\.{3}|…|•{3}|-{4}|_{4}|#{4}|0{6}|^(?:example|sample|foo|bar|baz|test)[-_.]?(?:\w{0,8}\d{0,3})?$"
)
"""Searched in lower case, in values that do not look random."""

REFERENCE = (
    r"^(?:\$\{|\$\(|\$[A-Za-z_:]|\{|%[({sA-Za-z]|<|\[|@@|@\w+@|#\{|![A-Z]\w+|&\w|\*\w|\\|/\^|\.{2,}|--|//|[=:(|])"
    r"|\{\{|\}\}|\$\{|\{[\w.!:]{0,40}\}|%\(|%[sd]\b|\(\)|::|^[A-Za-z_][\w.]{0,60}[(\[].*[)\]]$"
    r"|^(?:arn|op|vault|env|file|data|ssm|https?|s3|gs|git|ssh|keyring|aws-sm|ref|sha\d{1,3}|md5|h1|urn|process\.env"
    r"|os\.environ|ENV|System|config|self|this|settings|secrets|args|request|req)\b[.:/\[(]"
)
"""Values that refer to a secret instead of being one."""

NO_CREDENTIAL = (
    r"^(?:\d{4}-\d{2}-\d{2}(?:[T ].*)?|v?\d{1,4}(?:\.\d{1,5}){1,3}[\w.+-]{0,12}|\d{1,2}:\d{2}(?::\d{2})?"
    r"|0x[0-9a-fA-F]{1,8}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}|[\d.]+(?:[a-z]{1,3}|%)?|#[0-9a-fA-F]{3,8}|[+-]\d+)$"
)
"""Dates, versions, addresses, numbers with a unit, colours."""

DEFAULT_PASSWORDS = frozenset((
    "password", "passwd", "pass", "pw", "pwd", "passw0rd", "secret", "user", "username", "root", "admin", "guest",
    "test", "testing", "tiger", "postgres", "mysql", "redis", "rabbitmq", "mongo", "example", "changeme",
    "change-me", "foobar", "foo", "bar", "baz", "token", "key", "none", "null", "undefined", "string",
    "password123", "mypassword", "yourpassword", "your-password", "your_password", "db_password", "dbpass",
    "dbpassword", "mypass", "userpass", "hostname", "default", "localhost", "minioadmin", "some_password", "s3cret",
    "p", "ppp", "xxx", "abc",
))  # fmt: skip
"""Placeholder passwords of documentation and local containers, in connection strings."""
