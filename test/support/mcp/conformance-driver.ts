import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'

/**
 * The command that the client part of the official suite runs for each scenario, with the address of its server.
 * With `DRIVER_CONTROL` the server is reached through a gateway: a POST there registers it and gives the address.
 */

const {MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT, DRIVER_CONTROL} = process.env
const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '2025-11-25'
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT ?? '{}') as Context
const TRIPS = 2
const REDIRECT = 'http://localhost:3000/callback'

interface Context {
  readonly client_id?: string
  readonly client_secret?: string
  readonly toolCalls?: readonly {readonly name: string; readonly arguments: Record<string, unknown>}[]
}
interface Target {
  readonly url: string
  readonly headers: Record<string, string>
}

/** The OAuth of an app that talks to the server itself; a person who agrees at once. */
class AppAuth {
  readonly redirectUrl = REDIRECT
  readonly clientMetadataUrl = 'https://conformance-test.local/client-metadata.json'
  readonly clientMetadata = {
    ...{client_name: 'driver', redirect_uris: [REDIRECT]},
    ...{grant_types: ['authorization_code', 'refresh_token'], response_types: ['code']},
  }
  back: URLSearchParams | undefined
  #client: {client_id: string} | undefined
  #tokens: unknown
  #verifier = ''
  #discovery: unknown

  clientInformation() {
    const {client_id, client_secret} = context
    return this.#client ?? (client_id === undefined ? undefined : {client_id, client_secret})
  }
  saveClientInformation(client: {client_id: string}) {
    this.#client = client
  }
  tokens() {
    return this.#tokens
  }
  saveTokens(tokens: unknown) {
    this.#tokens = tokens
  }
  async redirectToAuthorization(url: URL) {
    const {headers} = await fetch(url, {redirect: 'manual'})
    this.back = new URL(headers.get('location')!).searchParams
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier
  }
  codeVerifier() {
    return this.#verifier
  }
  saveDiscoveryState(state: unknown) {
    this.#discovery = state
  }
  discoveryState() {
    return this.#discovery
  }
  /** It is of one trip alone: a server may name another authorization server by the next. */
  endTrip() {
    this.#discovery = undefined
  }
  invalidateCredentials(kind: string) {
    if (kind === 'all' || kind === 'client') this.#client = undefined
    if (kind !== 'client') this.#tokens = undefined
  }
}

async function controlled<T>(path: string, body: object): Promise<T> {
  const reply = await fetch(`${DRIVER_CONTROL}${path}`, {method: 'POST', body: JSON.stringify(body)})
  if (!reply.ok) throw new Error(await reply.text())
  return (await reply.json()) as T
}

const url = process.argv.at(-1)!
const target: Target = DRIVER_CONTROL
  ? await controlled<Target>('/target', {url, scenario, context})
  : {url, headers: {}}
const {client_id: clientId, client_secret: clientSecret} = context
const app = new AppAuth()
const authProvider = scenario.includes('client-credentials-basic')
  ? new ClientCredentialsProvider({clientId: clientId!, clientSecret: clientSecret!})
  : app
type Options = NonNullable<ConstructorParameters<typeof StreamableHTTPClientTransport>[1]>

let transport: StreamableHTTPClientTransport
async function connected(): Promise<Client> {
  transport = new StreamableHTTPClientTransport(new URL(target.url), {
    requestInit: {headers: target.headers},
    ...(!DRIVER_CONTROL && {authProvider: authProvider as Options['authProvider']}),
  })
  const client = new Client(
    {name: 'driver', version: '1.0.0'},
    {
      capabilities: {elicitation: {form: {applyDefaults: true}}},
      // pinned to a revision, the SDK drops the words of an error to its first request, and with them the sign-in
      versionNegotiation: {mode: revision === '2026-07-28' ? 'auto' : 'legacy'},
    },
  )
  const content: Record<string, boolean> = scenario.startsWith('sep-2322') ? {confirmed: true} : {}
  client.setRequestHandler('elicitation/create', async () => ({action: 'accept', content}))
  await client.connect(transport)
  return client
}

/** Runs a step; where a person has to sign in first, has him do it and runs the step again. */
async function withSignIn<T>(step: () => Promise<T>): Promise<T> {
  for (let trips = 0; ; trips++)
    try {
      return await step()
    } catch (error) {
      const {authorizationUrl} = ((error as {data?: unknown}).data ?? {}) as {authorizationUrl?: string}
      if (trips === TRIPS) throw error
      if (authorizationUrl && DRIVER_CONTROL) await controlled('/trip', {url: authorizationUrl})
      else if (error instanceof UnauthorizedError && app.back) {
        const back = app.back
        app.back = undefined
        await transport.finishAuth(back)
        app.endTrip()
      } else throw error
    }
}

function argumentsOf(name: string, tools: readonly {name: string; inputSchema: unknown}[]): Record<string, unknown> {
  if (name === 'add_numbers') return {a: 5, b: 3}
  if (name === 'json_schema_echo') return {schema: tools.find(tool => tool.name !== name)!.inputSchema}
  return {}
}

const client = await withSignIn(connected)
const {tools} = await withSignIn(() => client.listTools())
const calls = context.toolCalls ?? tools.map(({name}) => ({name, arguments: argumentsOf(name, tools)}))
for (const call of calls) await withSignIn(() => client.callTool(call))
if (scenario === 'http-standard-headers') {
  const {resources} = await client.listResources()
  for (const {uri} of resources) await client.readResource({uri})
  const {prompts} = await client.listPrompts()
  for (const {name} of prompts) await client.getPrompt({name})
}
await client.close()
