/** The beginning and the rest of an issuer's keys. */
export interface Issuer {
  readonly kind: string
  readonly prefix: string
  /** Every character after the prefix. */
  readonly sign: RegExp
  /** Fewest and most characters after the prefix. */
  readonly length: readonly [fewest: number, most: number]
}

const WORD = /[A-Za-z0-9]/
const LINK = /[A-Za-z0-9_-]/
const HEX = /[0-9a-fA-F]/
const CAPITAL = /[A-Z0-9]/

/**
 * Sources: the issuers' documentation of their key formats. Longer prefixes come before shorter ones that they begin
 * with.
 */
export const ISSUERS: readonly Issuer[] = [
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA'].map(prefix => issuer('aws_key', prefix, CAPITAL, 16)),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map(prefix => issuer('github_key', prefix, WORD, 36, 251)),
  issuer('github_key', 'github_pat_', /[A-Za-z0-9_]/, 60, 251),
  ...['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glft-', 'glsoat-', 'glagent-', 'glimt-', 'glcbt-'].map(prefix =>
    issuer('gitlab_key', prefix, LINK, 20, 300),
  ),
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xapp-'].map(prefix =>
    issuer('slack_key', prefix, /[A-Za-z0-9-]/, 24, 300),
  ),
  issuer('anthropic_key', 'sk-ant-', LINK, 32, 300),
  issuer('openrouter_key', 'sk-or-', LINK, 32, 300),
  ...['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'].map(prefix => issuer('openai_key', prefix, LINK, 20, 300)),
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'].map(prefix =>
    issuer('stripe_key', prefix, WORD, 16, 247),
  ),
  issuer('openai_key', 'sk-', LINK, 20, 300),
  issuer('google_key', 'AIza', LINK, 35),
  issuer('google_key', 'GOCSPX-', LINK, 24, 40),
  ...['shpat_', 'shpca_', 'shppa_', 'shpss_'].map(prefix => issuer('shopify_key', prefix, HEX, 32)),
  issuer('npm_key', 'npm_', WORD, 36),
  issuer('huggingface_key', 'hf_', WORD, 30, 60),
  issuer('groq_key', 'gsk_', WORD, 40, 64),
  ...['dop_v1_', 'doo_v1_', 'dor_v1_'].map(prefix => issuer('digitalocean_key', prefix, HEX, 64)),
  issuer('pypi_key', 'pypi-', LINK, 50, 300),
  issuer('databricks_key', 'dapi', HEX, 32, 34),
  issuer('replicate_key', 'r8_', WORD, 37, 40),
  issuer('perplexity_key', 'pplx-', WORD, 40, 64),
  issuer('xai_key', 'xai-', WORD, 60, 100),
  issuer('nvidia_key', 'nvapi-', LINK, 40, 100),
  issuer('linear_key', 'lin_api_', WORD, 32, 64),
  issuer('notion_key', 'ntn_', WORD, 40, 64),
  issuer('figma_key', 'figd_', LINK, 36, 64),
  issuer('newrelic_key', 'NRAK-', CAPITAL, 27),
  issuer('postman_key', 'PMAK-', /[0-9a-f-]/, 59),
  issuer('grafana_key', 'glsa_', /[A-Za-z0-9_]/, 36, 64),
  issuer('sentry_key', 'sntrys_', LINK, 60, 300),
  issuer('docker_key', 'dckr_pat_', LINK, 27, 40),
  issuer('pulumi_key', 'pul-', HEX, 40),
  issuer('rubygems_key', 'rubygems_', HEX, 48),
  issuer('supabase_key', 'sbp_', HEX, 40),
  issuer('planetscale_key', 'pscale_tkn_', LINK, 32, 64),
  issuer('square_key', 'sq0csp-', LINK, 43),
  issuer('square_key', 'sq0atp-', LINK, 22),
  issuer('mailgun_key', 'key-', HEX, 32),
  issuer('twilio_key', 'SK', /[0-9a-f]/, 32),
  issuer('atlassian_key', 'ATATT3', LINK, 100, 300),
  issuer('heroku_key', 'HRKU-', LINK, 36, 80),
]

function issuer(kind: string, prefix: string, sign: RegExp, fewest: number, most = fewest): Issuer {
  return {kind, prefix, sign: new RegExp(`^${sign.source}+`), length: [fewest, most]}
}

/** By their first two characters, so that few are tried at a place. */
export const BY_START: ReadonlyMap<string, readonly Issuer[]> = Map.groupBy(ISSUERS, ({prefix}) => prefix.slice(0, 2))
