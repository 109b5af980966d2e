import type {RedirectTarget} from '../../identity/mcp-oauth/redirect-uris.ts'
import {pageText, plainPage} from '../../identity/plain-page.ts'
import type {OAuthServer} from '../../store/oauth-servers.ts'

const SENTENCES: readonly (readonly [scopes: readonly string[], sentence: string])[] = [
  [['mcp', 'mcp:*'], 'everything that you may do there'],
  [['mcp:servers:read', 'mcp:servers:*'], 'see which servers you may use'],
  [['mcp:tools:list', 'mcp:tools:*', 'mcp:read'], 'see tools, prompts and resources'],
  [['mcp:tools:call', 'mcp:tools:*', 'mcp:write'], 'call tools in your name'],
]

/** The things that a person has to know to decide. */
export interface ConsentView {
  /** As the client calls itself; empty where it does not. */
  readonly client: string
  readonly client_id: string
  /** A client that an administrator made is vouched for; the name of any other is its own word. */
  readonly is_vouched: boolean
  readonly redirect: RedirectTarget
  /** True when the client is answered on this machine alone: any program here may have sent the person. */
  readonly is_local: boolean
  readonly email: string
  /** One: it is named. Several: the person chooses. None: he can only refuse. */
  readonly servers: readonly OAuthServer[]
  readonly scopes: readonly string[]
  readonly handle: string
  readonly proof: string
}

/** The page on which a person lets a client in. It has no script; every text in it is escaped. */
export function consentPage(view: ConsentView): string {
  const name = view.client === '' ? 'A client without a name' : view.client
  const parts = [
    `<p><strong><bdi>${pageText(name)}</bdi></strong> wants to use an MCP server
  as <bdi>${pageText(view.email)}</bdi>.</p>`,
    factsOf(view),
    warningOf(view),
    formOf(view),
  ]
  return plainPage('Allow access?', parts.filter(Boolean).join('\n'))
}

function factsOf({client_id, is_vouched, redirect, servers, scopes}: ConsentView): string {
  const [server] = servers
  const one = servers.length === 1 ? server : undefined
  const rows: readonly (readonly [string, string])[] = [
    ['Answer goes to', redirect.shown],
    ['Client', is_vouched ? `${client_id} (set up by an administrator)` : `${client_id} (its name is its own word)`],
    ...(one
      ? ([
          ['Server', `${one.name} (${one.slug})`],
          ['Workspace', `${one.workspace_name} (${one.workspace_slug})`],
        ] as const)
      : []),
    ['It may', sentencesOf(scopes).join('; ')],
    ['Scopes', scopes.join(' ')],
  ]
  const items = rows.map(([term, text]) => `<dt>${pageText(term)}</dt><dd><bdi>${pageText(text)}</bdi></dd>`)
  return `<dl>\n${items.join('\n')}\n</dl>`
}

function sentencesOf(scopes: readonly string[]): readonly string[] {
  return SENTENCES.flatMap(([names, sentence]) => (names.some(name => scopes.includes(name)) ? [sentence] : []))
}

function warningOf({is_local}: ConsentView): string {
  if (!is_local) return ''
  return (
    '<p role="note"><strong>The answer goes to a program on this machine.</strong> Allow it only if you have just ' +
    'begun to add this server there yourself.</p>'
  )
}

function formOf({servers, handle, proof}: ConsentView): string {
  const hidden = {transaction: handle, proof, ...(servers.length === 1 && {server: servers[0]!.id})}
  const fields = Object.entries(hidden).map(
    ([name, value]) => `<input type="hidden" name="${pageText(name)}" value="${pageText(value)}">`,
  )
  const none = '<p role="alert">There is no such server that you may use. An administrator can open one to you.</p>'
  const allow = '<button type="submit" name="action" value="approve">Allow</button>'
  return `<form method="post" action="/oauth/authorize">
${[
  ...fields,
  servers.length > 1 ? choiceOf(servers) : '',
  servers.length === 0 ? none : allow,
  '<button type="submit" name="action" value="deny" formnovalidate>Refuse</button>',
]
  .filter(Boolean)
  .join('\n')}
</form>`
}

function choiceOf(servers: readonly OAuthServer[]): string {
  const options = servers.map(
    ({id, name, workspace_name}) =>
      `<option value="${pageText(id)}">${pageText(`${workspace_name} / ${name}`)}</option>`,
  )
  return `<label>Server <select name="server" required>
<option value="">Choose</option>
${options.join('\n')}
</select></label>`
}
