import type {Furnished} from '../../admin/contract/rows.ts'

/** Update commands that are not walked, each with why. */
export const LEFT_OUT: ReadonlySet<string> = new Set([
  // one field alone
  'users update',
  'members update',
  'domains update',
  // a document is changed whole, or a version is made beside the one that is shown; their operations are walked field
  // by field
  'organisations update',
  'configs update',
  'guardrails update',
  'prompts update',
  'partials update',
  'labels update',
  'deployments update',
  'secret-references update',
  'mcp-integrations update',
  'mcp-servers update',
  'mcp-oauth-clients update',
])

/** Options that say how or where, not what. */
export const NOT_FLAGS: ReadonlySet<string> = new Set([
  '--dry-run',
  '--workspace',
  '--key-stdin',
  '--key',
  '--restore',
  '--help',
])

export const FILES = {'new.key': 'sk-another-credential', 'all.json': '{"openai_project": "of-a-file"}'}

interface Value {
  readonly said: readonly string[]
  /** Ways of the view that may change; `*` is any one name. */
  readonly changes: readonly string[]
  /** After it, the beginning is made anew; `always` where it changes something that no view says. */
  readonly ends?: string
}

const value = (said: string | readonly string[], ...changes: readonly string[]): Value => ({
  said: [said].flat(),
  changes,
})
const ending = (said: string | readonly string[], ...changes: readonly string[]): Value => ({
  ...value(said, ...changes),
  ends: 'then',
})

const BUDGET = 'usage_limits'
const of = (field: string) => [`${BUDGET}.${field}`, `${BUDGET}.cost.${field}`]
const PERIOD = [...of('periodic_reset'), ...of('periodic_reset_days'), ...of('next_usage_reset_at')]

/** What each flag is given, and what of the view it may change; by `command --flag` or by flag alone. */
export const FLAGS: Readonly<Record<string, readonly Value[]>> = {
  '--name': [value('One', 'name'), value('Two', 'name')],
  '--description': [value('One', 'description'), value('Two', 'description')],
  '--note': [value('One', 'note'), value('Two', 'note')],
  '--scope': [value('logs.list', 'scopes'), value(['completions.write', 'logs.list'], 'scopes')],
  '--config': [],
  '--expires': [
    value('90d', 'expires_at', 'status'),
    value('2027-01-01', 'expires_at', 'status'),
    value('never', 'expires_at', 'status'),
  ],
  '--reset-usage': [{...value([], 'last_reset_at', 'status'), ends: 'always'}],
  '--metadata': [value('team=red', 'defaults.metadata'), value('team=two', 'defaults.metadata')],
  '--tag': [value('team=red', 'tags'), value('of=two', 'tags')],
  '--budget': [value('120', ...of('credit_limit')), value('130.5', ...of('credit_limit')), ending('none', BUDGET)],
  '--token-budget': [ending('5000', BUDGET)],
  'workspaces update --budget': [value('120', 'usage_limits.cost.credit_limit'), ending('none', 'usage_limits.cost')],
  'workspaces update --token-budget': [
    value('5000', 'usage_limits.tokens.credit_limit'),
    ending('none', 'usage_limits.tokens'),
  ],
  'workspaces update --reset': [],
  'workspaces update --alert': [],
  'workspaces update --no-reset': [],
  'workspaces update --no-alert': [],
  '--reset': [value('weekly', ...PERIOD), value('30d', ...PERIOD), value('none', ...PERIOD)],
  '--no-reset': [value([], ...PERIOD)],
  '--alert': [
    value('50', ...of('alert_threshold')),
    value('60.5', ...of('alert_threshold')),
    value('none', ...of('alert_threshold')),
  ],
  '--no-alert': [value([], ...of('alert_threshold'))],
  '--no-budget': [ending([], BUDGET)],
  '--rate': [
    value('7rpm', 'rate_limits.requests rpm.value'),
    value(['8rpm', '900rpd'], 'rate_limits.requests rpm.value', 'rate_limits.requests rpd'),
    ending('none', 'rate_limits.requests rpm', 'rate_limits.requests rpd'),
  ],
  '--token-rate': [
    value('700rpm', 'rate_limits.tokens rpm.value'),
    value(['800rpm', '90000rpd'], 'rate_limits.tokens rpm.value', 'rate_limits.tokens rpd'),
    ending('none', 'rate_limits.tokens rpm', 'rate_limits.tokens rpd'),
  ],
  '--no-rate': [ending([], 'rate_limits')],
  '--enforcement': [],
  '--allow-models': [
    value('gpt-*', 'models.allow.0', 'models.allow.1'),
    value(['gpt-*', '@local/*'], 'models.allow.0', 'models.allow.1'),
  ],
  '--deny-models': [
    value('o1*', 'models.deny.0', 'models.deny.1'),
    value(['o1*', '*-preview'], 'models.deny.0', 'models.deny.1'),
  ],
  '--no-allow-models': [ending([], 'models.allow', 'models.allow.0', 'models.allow.1')],
  '--no-deny-models': [ending([], 'models.deny.0', 'models.deny.1')],
  '--key-file': [{...value('new.key', 'masked_key'), ends: 'always'}],
  // another place wants the key again
  '--custom-host': [
    {
      ...value(
        ['https://one.example.com/v1', '--key-file', 'new.key'],
        'configurations.custom_host',
        'model_config.custom_host',
        'masked_key',
      ),
      ends: 'always',
    },
  ],
  '--set': [
    value('openai_project=one', 'configurations.openai_project', 'model_config.openai_project'),
    value('openai_organization=two', 'configurations.openai_organization', 'model_config.openai_organization'),
  ],
  '--configurations': [ending(['all.json', '--key-file', 'new.key'], 'configurations', 'model_config', 'masked_key')],
  'workspaces update --unreadable-bodies': [
    value('deny', 'defaults.unreadable_bodies'),
    value('inherit', 'defaults.unreadable_bodies'),
  ],
  'workspaces update --input-guardrails': [],
  'workspaces update --output-guardrails': [],
  'workspaces update --no-input-guardrails': [ending([], 'defaults.input_guardrails')],
  'workspaces update --no-output-guardrails': [ending([], 'defaults.output_guardrails')],
  'policies usage update --budget': [value('120', 'credit_limit'), value('130.5', 'credit_limit')],
  'policies usage update --token-budget': [],
  'policies usage update --reset': [value('weekly', 'periodic_reset', 'next_usage_reset_at', 'last_reset_at')],
  'policies usage update --no-reset': [value([], 'periodic_reset', 'next_usage_reset_at', 'last_reset_at')],
  'policies usage update --alert': [value('50', 'alert_threshold'), value('none', 'alert_threshold')],
  'policies usage update --no-alert': [value([], 'alert_threshold')],
  'policies usage update --reset-usage': [],
  'policies usage update --enforcement': [value('strict', 'enforcement'), value('shadow', 'enforcement')],
  'policies rate update --enforcement': [value('strict', 'enforcement'), value('shadow', 'enforcement')],
  'policies rate update --rate': [value('20rpm', 'value', 'unit'), value('300rph', 'value', 'unit')],
  'policies rate update --token-rate': [],
}

const budget = {
  type: 'cost',
  credit_limit: 110,
  alert_threshold: 70,
  periodic_reset: 'monthly',
  periodic_reset_days: null,
  enforcement: 'strict',
}
const rates = {
  rate_limits: [
    {type: 'requests', unit: 'rpm', value: 60, enforcement: 'shadow'},
    {type: 'tokens', unit: 'rpm', value: 9000, enforcement: 'strict'},
  ],
}
const LIMITED = {usage_limits: budget, ...rates}
const models = {allow: ['gpt-4o*'], deny: ['gpt-4o-audio*']}
const both = [budget, {...budget, type: 'tokens', credit_limit: 9000, periodic_reset: 'weekly'}]

interface Named {
  readonly name: string
  /** The path of the view. */
  readonly view: string
  /** What is sent before the walk, and after what takes limits away. */
  readonly begin?: object
}

/** What each command is tried on. */
export const NAMED: Readonly<Record<string, (place: Furnished) => Named>> = {
  'keys update': ({key}) => ({name: key, view: `/api-keys/${key}`, begin: {...LIMITED, models}}),
  'workspaces update': ({workspace, guardrail}) => ({
    name: workspace,
    view: `/admin/workspaces/${workspace}`,
    begin: {
      ...rates,
      models,
      usage_limits: both,
      defaults: {input_guardrails: [guardrail], output_guardrails: [guardrail]},
    },
  }),
  'providers update': ({provider, workspace}) => ({
    name: provider,
    view: `/providers/${provider}?workspace_id=${workspace}`,
    begin: LIMITED,
  }),
  'virtual-keys update': ({virtual_key, workspace}) => ({
    name: virtual_key,
    view: `/virtual-keys/${virtual_key}?workspace_id=${workspace}`,
    begin: {
      ...LIMITED,
      key: 'sk-before-0123456789',
      model_config: {openai_project: 'before', openai_organization: 'before'},
    },
  }),
  'integrations update': ({integration}) => ({
    name: integration,
    view: `/integrations/${integration}`,
    begin: {key: 'sk-before-0123456789', configurations: {openai_project: 'before', openai_organization: 'before'}},
  }),
  'policies usage update': ({usage_policy}) => ({
    name: usage_policy,
    view: `/policies/usage-limits/${usage_policy}`,
    begin: {credit_limit: 110, alert_threshold: 45, periodic_reset: 'monthly', enforcement: 'strict'},
  }),
  'policies rate update': ({rate_policy}) => ({name: rate_policy, view: `/policies/rate-limits/${rate_policy}`}),
}
