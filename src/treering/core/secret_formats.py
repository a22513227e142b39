"""Formats of secrets as data: tokens with a recognisable prefix, and phrases that announce a secret.

`body` is matched right after the prefix. A quantifier is open only where its match is consumed, and bounded in a
look-ahead or where the prefix can occur inside it, so that scanning stays linear on hostile text.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

ALNUM_END = r"(?![A-Za-z0-9]|\[redacted:)"
UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"


@dataclass(frozen=True, slots=True)
class SecretFormat:
    """One format of a secret.

    The secret is group 1 of `body` if present, else everything from `before` characters ahead of the prefix to the end
    of the body.
    """

    kind: str
    prefixes: tuple[str, ...]
    body: str
    starts_word: bool = False
    """The prefix is too short to be significant inside a word."""
    before: int = 0
    entropy: float = 2.5
    """Bits per character below which the match is a placeholder such as `ghp_xxxx…`."""
    context: str = ""
    """Text required within the preceding `CONTEXT_REACH` characters."""


class SecretMatch(NamedTuple):
    """A secret from `start` to `end`; its evidence extends from `anchor` to `reach`, if that is after `end`."""

    kind: str
    anchor: int
    start: int
    end: int
    reach: int = 0


MARK = "[redacted:"
MARK_PATTERN = r"\[redacted:[a-z0-9_]{1,40}\]"
LONGEST_MARK = 51


def follows_mark(text: str, position: int) -> bool:
    """Whether a mark ends at `position`, so that the redacted text may belong to the word that starts here."""
    if text[position - 1 : position] != "]":
        return False
    return re.search(rf"{MARK_PATTERN}$", text[max(0, position - LONGEST_MARK) : position]) is not None


CONTEXT_REACH = 300

MIN_TOKEN = 20
"""Minimum run of non-blank characters in which a row of `TOKENS` matches."""

MIN_BARE_TOKEN = 16
"""Minimum length of a match of a row of `TOKENS`, without context."""

BREAKS_TOKEN = "!\"#&'()*;<>?[\\]^`{}"
"""Characters that no row of `TOKENS` matches, in the secret or before it."""

CLOUD = (
    SecretFormat("aws_access_key", ("AKIA", "ASIA", "ABIA", "ACCA"), rf"[A-Z0-9]{{16}}{ALNUM_END}", starts_word=True),
    SecretFormat("aws_session_token", ("FwoGZXIvYXdz", "IQoJb3JpZ2lu"), r"[A-Za-z0-9+/=]{50,}"),
    SecretFormat("aws_bedrock_key", ("ABSK",), r"[A-Za-z0-9+/]{100,}={0,2}", starts_word=True),
    SecretFormat("aws_bedrock_key", ("bedrock-api-key-",), r"[A-Za-z0-9+/=]{20,}"),
    SecretFormat("gcp_api_key", ("AIza",), r"[A-Za-z0-9_-]{35,}", starts_word=True),
    SecretFormat("gcp_api_key", ("AQ.Ab",), r"[A-Za-z0-9_-]{40,}", starts_word=True),
    SecretFormat("google_oauth", ("ya29.",), r"[A-Za-z0-9_.-]{20,}", starts_word=True),
    SecretFormat("google_oauth", ("GOCSPX-",), r"[A-Za-z0-9_-]{20,}"),
    SecretFormat("google_oauth", ("1//0",), r"[A-Za-z0-9_-]{40,}", starts_word=True),
    SecretFormat("azure_storage_key", ("ccountKey=", "SharedAccessKey="), r"([A-Za-z0-9+/]{40,}={0,2})"),
    SecretFormat("azure_sas_signature", ("sig=",), r"([A-Za-z0-9%+/_-]{40,}={0,2})", starts_word=True, entropy=3.5),
    SecretFormat(
        "azure_client_secret", ("Q~",), r"(?<=[A-Za-z0-9_~.]{3}\dQ~)(?<![\w~.-].{4}Q~)[A-Za-z0-9_~.-]{31,}", before=4
    ),
    SecretFormat("azure_devops_token", ("AZDO",), r"(?<=[A-Za-z0-9]{76}AZDO)[A-Za-z0-9]{4}", before=76),
    SecretFormat("azure_api_key", ("JQQJ99",), r"(?<=[A-Za-z0-9]{52}JQQJ99)[A-Za-z0-9]{26}", before=52),
    SecretFormat("digitalocean_token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"[a-f0-9]{60,}"),
    SecretFormat("cloudflare_token", ("v1.0-",), r"[a-f0-9]{24}-[a-f0-9]{100,}", starts_word=True),
    SecretFormat("cloudflare_token", ("cfut_", "cfat_", "cfk_"), r"[A-Za-z0-9_-]{36,}", starts_word=True),
    SecretFormat("heroku_token", ("HRKU-",), r"[A-Za-z0-9_-]{36,}"),
    SecretFormat("vercel_token", ("vcp_", "vci_", "vca_", "vcr_", "vck_"), r"[A-Za-z0-9]{24,}", starts_word=True),
    SecretFormat("netlify_token", ("nfp_", "nfc_", "nfo_", "nfu_"), r"[A-Za-z0-9]{36,}", starts_word=True),
    SecretFormat("flyio_token", ("fo1_",), r"[\w-]{40,}", starts_word=True),
    SecretFormat("flyio_token", ("fm1a_", "fm1r_", "fm2_"), r"[A-Za-z0-9+/_=,-]{60,}", starts_word=True),
    SecretFormat("supabase_key", ("sbp_",), r"[A-Za-z0-9_]{40,}", starts_word=True),
    SecretFormat("supabase_key", ("sb_secret_",), r"[A-Za-z0-9_-]{20,}"),
    SecretFormat("planetscale_token", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"[\w=.-]{32,}"),
    SecretFormat("databricks_token", ("dapi",), rf"[a-f0-9]{{32}}(?:-\d)?{ALNUM_END}", starts_word=True),
    SecretFormat("vault_token", ("hvs.", "hvb.", "hvr."), r"[A-Za-z0-9_-]{24,}", starts_word=True),
    SecretFormat("terraform_token", (".atlasv1.",), r"(?<=[A-Za-z0-9]{14}\.atlasv1\.)[A-Za-z0-9_=-]{60,}", before=14),
    SecretFormat("alibaba_access_key", ("LTAI",), r"[A-Za-z0-9]{12,}", starts_word=True, entropy=3.0),
    SecretFormat("tencent_secret_id", ("AKID",), rf"[A-Za-z0-9]{{32}}{ALNUM_END}", starts_word=True, entropy=3.0),
    SecretFormat("pulumi_token", ("pul-",), rf"[a-f0-9]{{40}}{ALNUM_END}", starts_word=True),
    SecretFormat("neon_token", ("napi_",), r"[a-z0-9]{40,}", starts_word=True),
    SecretFormat("render_token", ("rnd_",), r"[A-Za-z0-9]{28,}", starts_word=True, entropy=3.5),
    SecretFormat("tailscale_key", ("tskey-",), r"[a-z]{2,12}-[A-Za-z0-9]{6,}-[A-Za-z0-9]{16,}"),
)

MODELS = (
    SecretFormat("anthropic_key", ("sk-ant-",), r"[a-z]{2,8}\d{2}-[A-Za-z0-9_-]{40,}"),
    SecretFormat("openrouter_key", ("sk-or-",), r"v\d-[a-f0-9]{40,}"),
    SecretFormat(
        "openai_key", ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"), r"[A-Za-z0-9_-]{40,}", entropy=3.5
    ),
    SecretFormat("openai_key", ("sk-",), r"[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20,}", starts_word=True),
    SecretFormat("model_key", ("sk-",), r"(?=[a-zA-Z]*\d)[A-Za-z0-9]{32,}", starts_word=True, entropy=3.0),
    SecretFormat("langfuse_key", ("sk-lf-",), UUID, starts_word=True),
    SecretFormat("groq_key", ("gsk_",), r"[A-Za-z0-9]{40,}"),
    SecretFormat("xai_key", ("xai-",), r"[A-Za-z0-9]{60,}", starts_word=True),
    SecretFormat("perplexity_key", ("pplx-",), r"[A-Za-z0-9]{40,}"),
    SecretFormat("replicate_token", ("r8_",), r"[A-Za-z0-9]{37,}", starts_word=True),
    SecretFormat("huggingface_token", ("hf_", "api_org_"), r"[A-Za-z0-9]{30,}", starts_word=True, entropy=4.1),
    SecretFormat("langsmith_key", ("lsv2_",), r"(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10,}"),
    SecretFormat("pinecone_key", ("pcsk_",), r"[A-Za-z0-9_]{40,}"),
    SecretFormat("nvidia_key", ("nvapi-",), r"[A-Za-z0-9_-]{60,}"),
    SecretFormat("together_key", ("tgp_v1_",), r"[A-Za-z0-9_-]{40,}"),
    SecretFormat("fireworks_key", ("fw_",), r"(?=[a-zA-Z]*\d)[A-Za-z0-9]{22,}", starts_word=True, entropy=3.0),
    SecretFormat("cerebras_key", ("csk-",), r"[a-z0-9]{48,}", starts_word=True),
    SecretFormat("elevenlabs_key", ("sk_",), rf"[a-f0-9]{{48}}{ALNUM_END}", starts_word=True),
    SecretFormat("jina_key", ("jina_",), r"[a-f0-9]{32}[A-Za-z0-9_-]{20,}"),
    SecretFormat("tavily_key", ("tvly-",), r"(?:dev-|prod-)?[A-Za-z0-9]{28,}"),
    SecretFormat("firecrawl_key", ("fc-",), rf"[a-f0-9]{{32}}{ALNUM_END}", starts_word=True),
    SecretFormat("wandb_key", ("wandb_v1_",), r"[A-Za-z0-9_-]{40,}", starts_word=True),
    SecretFormat(
        "voyage_key", ("pa-",), r"(?=[a-zA-Z_-]{0,42}+\d)[A-Za-z0-9_-]{43}(?![\w-]|\[redacted:)", starts_word=True
    ),
)

GIT_HOSTING = (
    SecretFormat(
        "github_token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"(?:\d{1,12}_)?[A-Za-z0-9]{36}[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{10,})*",
    ),
    SecretFormat("github_token", ("github_pat_",), r"[A-Za-z0-9_]{36,}"),
    SecretFormat(
        "gitlab_token",
        ("glpat-", "glrt-", "gldt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "glcbt-", "glptt-"),
        r"[\w=-]{20,}(?:\.\w{2,12})*",
    ),
    SecretFormat("gitlab_token", ("GR1348941",), r"[\w-]{20,}", starts_word=True),
    SecretFormat("bitbucket_token", ("ATBB",), r"[A-Za-z0-9_=-]{24,}", starts_word=True),
    SecretFormat("bitbucket_token", ("BBDC-",), r"[A-Za-z0-9+/]{40,}", starts_word=True),
    SecretFormat("atlassian_token", ("ATATT3", "ATCTT3"), r"[A-Za-z0-9_=-]{60,}"),
    SecretFormat("sourcegraph_token", ("sgp_",), r"(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40,}", starts_word=True),
)

CHAT = (
    SecretFormat(
        "slack_token",
        ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxe-", "xoxe.xoxp-", "xoxe.xoxb-"),
        r"\d[A-Za-z0-9-]{15,}",
    ),
    SecretFormat("slack_token", ("xoxd-",), r"[A-Za-z0-9%+/=_-]{30,}"),
    SecretFormat("slack_token", ("xapp-",), r"\d-[A-Z0-9]{4,20}-\d{4,20}-[a-f0-9]{20,}"),
    SecretFormat("slack_webhook", ("hooks.slack.com/",), r"((?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,})"),
    SecretFormat(
        "discord_token",
        ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        r"[A-Za-z0-9_-]{21,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        starts_word=True,
        entropy=3.5,
    ),
    SecretFormat(
        "discord_webhook", ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"), r"(\d{15,20}/[\w-]{50,})"
    ),
    SecretFormat("telegram_token", (":AA",), r"(?<=\d{8}:AA)[A-Za-z0-9_-]{32,}", before=-1),
    SecretFormat(
        "teams_webhook", (".webhook.office.com/webhookb2/",), r"([A-Za-z0-9@/_-]{60,}(?:/IncomingWebhook/[\w/-]+)?)"
    ),
    SecretFormat("facebook_token", ("EAAB", "EAAC", "EAAG", "EAAM"), r"[A-Za-z0-9]{90,}", starts_word=True),
    SecretFormat(
        "facebook_token", ("|",), r"(?<=\d{15}\|)[A-Za-z0-9_-]{27}(?![\w-]|\[redacted:)", before=-1, entropy=3.5
    ),
    SecretFormat("twilio_key", ("SK", "AC"), rf"[a-f0-9]{{32}}{ALNUM_END}", starts_word=True),
    SecretFormat("sendgrid_key", ("SG.",), r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,}", starts_word=True),
    SecretFormat("mailgun_key", ("key-",), rf"[a-f0-9]{{32}}{ALNUM_END}", starts_word=True),
    SecretFormat("mailchimp_key", ("-us",), rf"(?<=[a-f0-9]{{32}}-us)\d{{1,2}}{ALNUM_END}", before=32),
    SecretFormat("brevo_key", ("xkeysib-", "xsmtpsib-"), r"[a-f0-9]{60,}-[A-Za-z0-9]{16,}"),
    SecretFormat("resend_key", ("re_",), r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", starts_word=True, entropy=3.0),
)

PAYMENT = (
    SecretFormat(
        "stripe_key", ("sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"), r"[A-Za-z0-9]{16,}"
    ),
    SecretFormat("stripe_key", ("sk_org_",), r"(?:live_|test_)?[A-Za-z0-9]{16,}", starts_word=True),
    SecretFormat("stripe_webhook_secret", ("whsec_",), r"[A-Za-z0-9+/=]{24,}"),
    SecretFormat("square_token", ("sq0atp-", "sq0csp-"), r"[A-Za-z0-9_-]{22,}"),
    SecretFormat("square_token", ("EAAA",), r"[A-Za-z0-9_-]{56,}", starts_word=True),
    SecretFormat("braintree_token", ("access_token$",), r"(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32,}"),
    SecretFormat("shopify_token", ("shpat_", "shpca_", "shppa_", "shpss_", "shpua_"), r"[a-fA-F0-9]{32,}"),
    SecretFormat("razorpay_key", ("rzp_live_", "rzp_test_"), r"[A-Za-z0-9]{14,}"),
    SecretFormat("plaid_token", ("access-sandbox-", "access-development-", "access-production-"), UUID),
    SecretFormat("paddle_key", ("pdl_live_apikey_", "pdl_sdbx_apikey_"), r"[A-Za-z0-9_]{40,}"),
    SecretFormat("flutterwave_key", ("FLWSECK-", "FLWSECK_TEST-"), r"[a-zA-Z0-9]{12,}(?:-X)?"),
    SecretFormat("easypost_key", ("EZAK", "EZTK"), r"[A-Za-z0-9]{54,}", starts_word=True),
    SecretFormat("shippo_token", ("shippo_live_", "shippo_test_"), r"[a-fA-F0-9]{40,}"),
    SecretFormat("duffel_token", ("duffel_live_", "duffel_test_"), r"[A-Za-z0-9_=-]{40,}"),
    SecretFormat("lob_key", ("live_", "test_"), rf"(?:[a-f0-9]{{35}}|pub_[a-f0-9]{{31}}){ALNUM_END}", starts_word=True),
)

PACKAGES = (
    SecretFormat("pypi_token", ("pypi-AgE",), r"[A-Za-z0-9_-]{50,}"),
    SecretFormat("npm_token", ("npm_",), r"[A-Za-z0-9]{36,}", starts_word=True),
    SecretFormat("crates_token", ("cio",), rf"[A-Za-z0-9]{{32}}{ALNUM_END}", starts_word=True, entropy=3.5),
    SecretFormat("rubygems_token", ("rubygems_",), r"[a-f0-9]{48,}"),
    SecretFormat("nuget_key", ("oy2",), rf"[a-z0-9]{{43}}{ALNUM_END}", starts_word=True, entropy=3.0),
    SecretFormat("dockerhub_token", ("dckr_pat_", "dckr_oat_"), r"[A-Za-z0-9_-]{24,}"),
    SecretFormat("artifactory_token", ("AKCp",), r"[A-Za-z0-9]{60,}", starts_word=True),
    SecretFormat("artifactory_token", ("cmVmd",), rf"[A-Za-z0-9]{{59}}{ALNUM_END}", starts_word=True),
    SecretFormat("clojars_token", ("CLOJARS_", "clojars_"), r"[A-Za-z0-9]{60,}"),
    SecretFormat("packagist_token", ("packagist_",), r"[a-z]{3}_[a-f0-9]{60,}"),
)

TOOLS = (
    SecretFormat("postman_key", ("PMAK-",), r"[a-f0-9]{24}-[a-f0-9]{34,}"),
    SecretFormat("newrelic_key", ("NRAK-", "NRII-", "NRIQ-", "NRJS-", "NRRA-", "NRSP-"), r"[A-Za-z0-9_-]{19,}"),
    SecretFormat("newrelic_key", ("NRAL",), rf"(?<=[a-f0-9]{{36}}NRAL){ALNUM_END}", before=36),
    SecretFormat("sentry_token", ("sntrys_",), r"[A-Za-z0-9+/=_-]{40,}"),
    SecretFormat("sentry_token", ("sntryu_",), r"[a-f0-9]{60,}"),
    SecretFormat("grafana_token", ("glc_",), r"[A-Za-z0-9+/]{32,}={0,3}", starts_word=True),
    SecretFormat("grafana_token", ("glsa_",), r"[A-Za-z0-9]{32}_[A-Fa-f0-9]{8,}", starts_word=True),
    SecretFormat("linear_key", ("lin_api_", "lin_oauth_"), r"[A-Za-z0-9]{32,}", starts_word=True),
    SecretFormat("notion_token", ("ntn_",), r"[A-Za-z0-9]{40,}", starts_word=True),
    SecretFormat("notion_token", ("secret_",), rf"[A-Za-z0-9]{{43}}{ALNUM_END}", starts_word=True, entropy=3.5),
    SecretFormat("figma_token", ("figd_",), r"[A-Za-z0-9_-]{36,}", starts_word=True),
    SecretFormat("airtable_token", ("pat",), r"[A-Za-z0-9]{14}\.[a-f0-9]{64}", starts_word=True),
    SecretFormat("hubspot_token", ("pat-na", "pat-eu", "pat-ap"), rf"\d-{UUID}", starts_word=True),
    SecretFormat("doppler_token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim."), r"[\w-]{2,40}\.?[\w-]{36,}"),
    SecretFormat("onepassword_token", ("ops_eyJ",), r"[A-Za-z0-9+/_=-]{100,}", starts_word=True),
    SecretFormat(
        "onepassword_secret_key", ("A3-",), r"[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}", starts_word=True
    ),
    SecretFormat("age_secret_key", ("AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"), r"[A-Z0-9]{50,}"),
    SecretFormat("posthog_key", ("phx_",), r"[A-Za-z0-9]{40,}", starts_word=True),
    SecretFormat("sonar_token", ("sqp_", "squ_", "sqa_"), r"[a-f0-9]{40,}", starts_word=True),
    SecretFormat("circleci_token", ("CCIPAT_",), r"[A-Za-z0-9]{16,}_[a-f0-9]{40,}"),
    SecretFormat("buildkite_token", ("bkua_",), r"[a-f0-9]{40,}", starts_word=True),
    SecretFormat("launchdarkly_key", ("sdk-", "api-"), UUID, starts_word=True),
    SecretFormat("prefect_key", ("pnu_", "pnb_"), r"[A-Za-z0-9]{36,}", starts_word=True),
    SecretFormat("contentful_token", ("CFPAT-",), r"[A-Za-z0-9_-]{40,}"),
    SecretFormat("mapbox_token", ("sk.eyJ",), r"[\w-]{40,1000}+\.[\w-]{20,}", starts_word=True),
    SecretFormat("typeform_token", ("tfp_",), r"[\w-]{40,}", starts_word=True),
    SecretFormat("readme_key", ("rdme_",), r"[A-Za-z0-9]{60,}", starts_word=True),
    SecretFormat("frameio_token", ("fio-u-",), r"[A-Za-z0-9_=-]{60,}", starts_word=True),
    SecretFormat("adafruit_key", ("aio_",), rf"[A-Za-z0-9]{{28}}{ALNUM_END}", starts_word=True),
    SecretFormat("asana_token", ("0/",), rf"(?<![\w/.+-]0/)[a-f0-9]{{32}}{ALNUM_END}", starts_word=True),
    SecretFormat(
        "asana_token",
        ("1/", "2/"),
        rf"(?<![\w/.+-]./)(?:\d{{10,20}}/)?\d{{10,20}}:[a-f0-9]{{32}}{ALNUM_END}",
        starts_word=True,
    ),
    SecretFormat("dynatrace_token", ("dt0c01.", "dt0s01."), r"[A-Z0-9]{24}\.[A-Z0-9]{60,}"),
    SecretFormat("jwt", ("eyJ",), r"(?<![\w-]eyJ)[\w-]{10,4000}+\.eyJ[\w-]{8,}+(?:\.[\w-]*+)?", starts_word=True),
    SecretFormat(
        "jwt",
        ("eyJhbGciOi", "eyJ0eXAiOi", "eyJraWQiOi", "eyJlbmMiOi"),
        r"(?<![\w-].{10})[\w-]{4,4000}+(?:\.[\w-]*+){2,4}",
        starts_word=True,
    ),
)

# Base64 of a PEM header at each of the three possible byte offsets.
PEM_IN_BASE64 = ("LS0tLS1CRUdJTi", "LS0tLUJFR0lOI", "LS0tQkVHSU4g")
PRIVATE_KEY_IN_BASE64 = "UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW"
KEYS = (
    SecretFormat(
        "private_key",
        PEM_IN_BASE64,
        rf"[A-Za-z0-9+/]{{0,40}}?(?:{PRIVATE_KEY_IN_BASE64})"
        r"[A-Za-z0-9+/_-]*+(?:\s{1,8}[A-Za-z0-9+/_-]{40,}+)*+(?:\s{1,8}[A-Za-z0-9+/_-]{1,75}(?==))?={0,2}",
    ),
)

TOKENS = (*MODELS, *GIT_HOSTING, *CLOUD, *CHAT, *PAYMENT, *PACKAGES, *TOOLS, *KEYS)

HEADER_VALUE = r"(?=[A-Za-z._~+/-]{0,64}+\d)"
HEADER_LINK = r"[\"']?[ ]{0,2}[:=,][ ]{0,2}[\"']?"
COMMON = "password|passwd|pass|pw|token|secret|test|user|username|example|admin|changeme|my|your"
COMMAND_VALUE = r"([^\s\"'$<{-][^\s\"']{4,})"

PHRASES = (
    SecretFormat("bearer_token", ("earer ",), rf"[ ]{{0,3}}({HEADER_VALUE}[A-Za-z0-9._~+/-]{{16,}}=*)", entropy=3.0),
    SecretFormat("basic_auth", ("uthorization",), rf"{HEADER_LINK}[Bb]asic[ ]{{1,3}}([A-Za-z0-9+/]{{8,}}={{0,2}})"),
    SecretFormat(
        "authorization",
        ("uthorization",),
        rf"[\"']?[ ]{{0,2}}:[ ]{{0,2}}[\"']?(?:[A-Z][A-Za-z-]{{2,12}}[ ]{{1,3}})?(?:token=)?(?!AWS4-HMAC)"
        rf"({HEADER_VALUE}[^\s\"',;()]{{16,}})",
        entropy=3.0,
    ),
    SecretFormat(
        "password",
        (" -",),
        rf"(?:u|-user)[ =]{{0,3}}[\"']?[\w.@+-]{{0,64}}[\"']?:[\"']?(?!(?i:{COMMON})\b)([^\s\"'$<{{[][^\s\"']{{2,}})",
        context="curl",
        entropy=1.5,
    ),
    SecretFormat("password", (" -",), rf"p[\"']?{COMMAND_VALUE}", context="mysql", entropy=1.5),
    SecretFormat("password", (" -",), rf"p[ ]?[\"']?{COMMAND_VALUE}", context="sshpass", entropy=1.5),
    SecretFormat("password", (" password ",), r"((?=\S{0,64}?[\d!@#$%^&*])\S{6,})", context="machine ", entropy=1.5),
    SecretFormat("password", (" password ",), r"[\"']?([^\s\"'$<{]{8,63})", context="nmcli", entropy=1.5),
    SecretFormat("password", (".psk ", "wpa-psk "), r"[\"']?((?=\S{0,63}[\d!@#$%^&*])[^\s\"'$<{]{8,64})", entropy=1.5),
    SecretFormat(
        "password", ("WIFI:",), r"(?:[A-OQ-Z]:(?:[^;\\\n]|\\.){0,64}+;){0,5}+P:((?:[^;\\\n]|\\.){4,128})", entropy=1.5
    ),
    SecretFormat("putty_private_key", ("Private-Lines: ",), r"\d{1,4}((?:\s{1,2}[A-Za-z0-9+/]{20,}={0,2})+)"),
)


def _by_prefix(formats: tuple[SecretFormat, ...]) -> tuple[tuple[str, tuple[SecretFormat, ...]], ...]:
    by_prefix: dict[str, list[SecretFormat]] = {}
    for form in formats:
        for prefix in form.prefixes:
            by_prefix.setdefault(prefix, []).append(form)
    return tuple((prefix, tuple(forms)) for prefix, forms in by_prefix.items())


TOKENS_BY_PREFIX = _by_prefix(TOKENS)
PHRASES_BY_PREFIX = _by_prefix(PHRASES)
