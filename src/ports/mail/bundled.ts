/** The subject of a mail: a provider is a virtual key by its older name, all others are entities. */
const NOUNS = ['apikey', 'virtualkey', 'entity'] as const
const EVENTS = ['usage-threshold-alert', 'usage-exhausted-alert', 'expired-alert'] as const

/** Of an organisation alone. */
const PASSWORD_SIGN_IN = 'organisation-password-sign-in-alert'
const DOMAIN_CODE = 'domain-code'
/** Of an MCP integration alone. */
const DEFINITION = 'mcp-definition-alert'
const OWN = [PASSWORD_SIGN_IN, DOMAIN_CODE, DEFINITION] as const

type SubjectLetter = `${(typeof NOUNS)[number]}-${(typeof EVENTS)[number]}`
export type LetterName = SubjectLetter | (typeof OWN)[number]

const SUBJECT_LETTERS = NOUNS.flatMap(noun =>
  EVENTS.map(event => [`${noun}-${event}` as SubjectLetter, event] as const),
)

export const LETTERS: readonly LetterName[] = [...SUBJECT_LETTERS.map(([name]) => name), ...OWN]

/** The values that a template may name. `kind` is in words: `API key`, `provider`. Amounts carry their unit. */
export const VALUES = [
  'kind',
  'name',
  'id',
  'workspace_id',
  'used',
  'limit',
  'threshold',
  'resets_at',
  'expires_at',
  'email',
  'client_ip',
  'at',
  'count',
  'domain',
  'code',
  'changed',
  'quarantined',
  'suspicious',
  'more',
  'company_name',
  'logo_url',
  'support_email',
  'docs_url',
] as const

interface Bundled {
  readonly subject: string
  readonly plain: string
  readonly html: string
}

/** A paragraph; with `when` or `unless` it is there only with, or only without, that value. */
interface Paragraph {
  readonly text: string
  readonly when?: (typeof VALUES)[number]
  readonly unless?: (typeof VALUES)[number]
}

interface Words {
  readonly subject: string
  readonly paragraphs: readonly Paragraph[]
}

const AGAIN: Paragraph = {when: 'resets_at', text: 'The budget starts again at {{resets_at}}.'}

const SAYS: Readonly<Record<(typeof EVENTS)[number] | (typeof OWN)[number], Words>> = {
  'usage-threshold-alert': {
    subject: 'The {{kind}} {{name}} has used {{used}} of {{limit}}',
    paragraphs: [
      {
        text: 'The {{kind}} {{name}} has passed the threshold of {{threshold}} that was set for alerts: {{used}} of {{limit}} are used.',
      },
      AGAIN,
      {unless: 'resets_at', text: 'The budget does not start again by itself.'},
    ],
  },
  'usage-exhausted-alert': {
    subject: 'The {{kind}} {{name}} has used up its budget',
    paragraphs: [
      {text: 'The {{kind}} {{name}} has used up its budget: {{used}} of {{limit}}. Further calls are refused.'},
      AGAIN,
      {unless: 'resets_at', text: 'The budget does not start again by itself: raise it, or set its usage to zero.'},
    ],
  },
  'expired-alert': {
    subject: 'The {{kind}} {{name}} has expired',
    paragraphs: [{text: 'The {{kind}} {{name}} expired at {{expires_at}}. Calls with it are refused.'}],
  },
  [PASSWORD_SIGN_IN]: {
    subject: 'An owner of {{name}} signed in with a password',
    paragraphs: [
      {text: '{{email}} signed in to {{name}} at {{at}}, from {{client_ip}}, with a password of the gateway itself.'},
      {when: 'count', text: 'In that minute owners signed in so {{count}} times. The last of them is named here.'},
      {
        text:
          'Was this not you, and no other owner who could not use single sign-on? Then end the sessions of that ' +
          'user, and set another password (gateway users set-password).',
      },
    ],
  },
  // its `name` is the slug of the integration
  [DEFINITION]: {
    subject: 'The {{kind}} {{name}} changed what its tools say',
    paragraphs: [
      {when: 'changed', text: 'Its server defines otherwise than approved: {{changed}}.'},
      {when: 'quarantined', text: 'They are hidden and refused until someone approves them.'},
      {when: 'suspicious', text: 'These have texts that read like orders to a model: {{suspicious}}.'},
      {when: 'more', text: 'There may be more changes: the last mail about this integration was within the hour.'},
      {text: 'The differences: gateway mcp diff. To approve them: gateway mcp approve.'},
    ],
  },
  // its `name` is the organisation's
  [DOMAIN_CODE]: {
    subject: 'The code for the domain {{domain}}',
    paragraphs: [
      {
        text:
          '{{name}} asks to have its people sign in with addresses of {{domain}}. ' +
          'The code that allows it: {{code}}',
      },
      {
        text:
          'It ends at {{expires_at}}. If this is not your organisation, do nothing: ' +
          'without the code nothing happens.',
      },
    ],
  },
}

const FOOT: readonly Paragraph[] = [
  {when: 'docs_url', text: 'More about it: {{docs_url}}'},
  {when: 'support_email', text: 'Questions: {{support_email}}'},
  {text: '{{company_name}}'},
]

const LOGO = '{{#logo_url}}<p><img src="{{logo_url}}" alt="{{company_name}}" height="40"></p>\n{{/logo_url}}'

export const BUNDLED = Object.fromEntries([
  ...SUBJECT_LETTERS.map(([name, event]) => [name, letterOf(SAYS[event])] as const),
  ...OWN.map(name => [name, letterOf(SAYS[name])] as const),
]) as Readonly<Record<LetterName, Bundled>>

function letterOf({subject, paragraphs}: Words): Bundled {
  const all = [...paragraphs, ...FOOT]
  const html = all.map(paragraph => within(paragraph, `<p>${paragraph.text}</p>\n`)).join('')
  return {
    subject,
    plain: all.map(paragraph => within(paragraph, `${paragraph.text}\n\n`)).join(''),
    html: `<!doctype html>\n<html><body style="font-family: sans-serif">\n${LOGO}${html}</body></html>\n`,
  }
}

function within({when, unless}: Paragraph, text: string): string {
  if (when) return `{{#${when}}}${text}{{/${when}}}`
  return unless ? `{{^${unless}}}${text}{{/${unless}}}` : text
}
