import {ENDPOINTS} from '../../schema/endpoints.ts'
import type {VendorOperation} from './operation.ts'

/**
 * The page `docs/doors.md`: what a call by each path is judged by, held to and charged for, printed from the table that
 * calls are read by.
 */
export function doorsPage(operations: readonly VendorOperation[]): string {
  const vendors = Map.groupBy(operations, ({name}) => name.split('.', 1)[0]!)
  return [HEAD, unified(), ...[...vendors].map(([vendor, rows]) => section(vendor, rows)), ''].join('\n')
}

const HEAD = `# What is guarded, listed and costed

A rule is bound to what it protects, not to a path. This page lists each operation that the gateway knows, and what a call of it means. Calls
reach it by a unified route, by a vendor's own path below \`/v1\`, below \`/v1/proxy/\`, or at the root, for paths that the vendors' own clients
send there. All of them read this one table.

| Column | Meaning |
| --- | --- |
| models | Where the request names models. Each of them must be on every list of models that covers the call. \`any depth\`: members called \`model\`, \`models\` and \`fallbacks\`, at any depth. \`stored\`: the model is part of an object that the request names by its id. |
| text | The reply holds text of a model, which output guardrails check. |
| money | \`costed\`: the usage of the reply is priced. \`free\`: nothing is charged, whatever usage the reply repeats. \`flagged\`: it costs, and no rate is known for it; the log says \`unmetered\`, and a strict limit of cost refuses it. \`deferred\`: it begins a batch, which is charged once, from its results, when they are there; what of them cannot be read is logged as \`unmetered\` or \`partial\`, and the row says why. |
| note | \`hands out a credential\`: refused where a limit of cost or tokens, a list of models, or a guardrail that denies covers the call (\`EPHEMERAL_KEYS\`). \`leads here\`: the reply holds an address that clients call next, and the client gets an address of the gateway instead. |

A path that is not in the table is an unknown operation. It passes, and so does a path of the table with another method, \`HEAD\` and
\`OPTIONS\` included. Every member called \`model\`, \`models\` or \`fallbacks\` is held against the lists, its usage is read in any words that
are known, and a POST that brings no usage is logged as \`unmetered\`.

A model in the path is the one that is executed. \`@slug/\` may be written before it there, as in a body. Versions and prefixes that repeat the
base URL's own are written once.

## Base of each client

A client takes the gateway's address, with or without \`/v1\`: both lead to the same place. \`KEY\` is a gateway key.

| Client | Base | Key |
| --- | --- | --- |
| OpenAI SDKs, LangChain, Hugging Face, other OpenAI-compatible clients | \`http://HOST:8787/v1\` | \`api_key\`, sent as \`Authorization: Bearer KEY\` |
| \`AzureOpenAI\` | \`azure_endpoint\`: \`http://HOST:8787\` | \`api_key\`, sent as \`api-key\` |
| Anthropic SDKs | \`http://HOST:8787\` | \`api_key\`, sent as \`x-api-key\` |
| Google GenAI SDKs | \`http_options.base_url\`: \`http://HOST:8787\` | \`api_key\`, sent as \`x-goog-api-key\` |
| boto3 (Bedrock Runtime) | \`endpoint_url\`: \`http://HOST:8787\` | \`AWS_BEARER_TOKEN_BEDROCK=KEY\` |
| Cohere SDKs | \`base_url\`: \`http://HOST:8787\` | \`api_key\`, sent as \`Authorization: Bearer KEY\` |
| Mistral and Together SDKs | \`http://HOST:8787\` | \`api_key\`, sent as \`Authorization: Bearer KEY\` |
| Ollama clients | \`host\`: \`http://HOST:8787\` | header \`Authorization: Bearer KEY\` |

Azure's clients name a deployment in the path. At kinds without deployments the deployment is the model, and the call
goes by the unified route. [clients.md](clients.md) has a snippet for each client.

## Addresses in replies

Some replies hold an address that the vendor's own client calls by itself. The client gets an address of the gateway instead, so that the next call
is held to the same limits, checks and log. The \`warning\` of the row reports it.

- The address of an upload (\`x-goog-upload-url\`, \`x-goog-upload-control-url\`, and the \`location\` of an upload) becomes
  \`/upload/v1beta/sealed/...\`. The last segment is sealed. It holds the place, the key that began the upload, its provider, and a time 48 hours
  later. A client may send its key with the parts or leave it out. A revoked, expired or other key is refused. The bytes are a body that
  guardrails cannot read (\`UNREADABLE_BODIES\`). An address at another host than the integration names is left out, which the row reports. With a
  config in a header, send that header with each part too.
- \`results_url\` of Anthropic's message batches becomes the same path at the gateway.

The gateway's own address is the \`host\` of the request. It is \`https\` where the gateway itself has TLS, or where a proxy before it says
\`x-forwarded-proto: https\`. The \`uri\` of Google's files stays as it is: requests name files by it, and Google's clients load them by their
name.

## Anthropic's clients

A request below \`/v1\` with the header \`anthropic-version\` is one of Anthropic's clients. At a provider whose API is Anthropic's, its files,
batches and skills are Anthropic's own. Other kinds answer as this table says. Without the header, the same paths are in OpenAI's words at every
kind. Below \`/v1/proxy/\` every call is the provider's own.

| Operation | Another kind, with the header |
| --- | --- |
| \`/v1/files\`, \`/v1/files/{id}\`, \`/v1/files/{id}/content\` | Its files in Anthropic's words. A list continues behind \`after_id\` or \`page\`. An upload gets the purpose \`user_data\`, or that of the header \`x-gateway-file-purpose\`. |
| \`/v1/models\`, \`/v1/models/{id}\` | The models that the key can call, in Anthropic's words. |
| \`/v1/messages/batches\`, \`/v1/skills\` | 501. Use \`/v1/batches\`, or a provider whose API is Anthropic's. |
| errors | \`{"type": "error", "error": {...}}\`, the gateway's and the provider's. |
`

function unified(): string {
  const rows = ENDPOINTS.filter(({later}) => !later).map(
    ({name, method, path}) => `| \`${name}\` | \`${method} /v1${path}\` |`,
  )
  return `## Unified routes\n\nTheir bodies are translated where the provider has other words.\n\n| Name | Route |\n| --- | --- |\n${rows.join('\n')}\n`
}

function section(vendor: string, rows: readonly VendorOperation[]): string {
  const lines = rows.map(row => {
    const in_words = row.endpoint ? `in the words of \`${row.endpoint}\`` : ''
    const note = row.delegates ? 'hands out a credential' : row.links ? LINKS[row.links] : in_words
    return `| \`${row.name}\` | \`${row.method} ${row.path}\` | ${models(row)} | ${row.generates ? 'yes' : ''} | ${row.money} | ${note} |`
  })
  const kinds = [
    ...new Set(rows.flatMap(row => (row.kinds === 'all' ? ['every kind'] : row.kinds.map(kind => `\`${kind}\``)))),
  ]
  return `## ${vendor}\n\nKinds: ${kinds.join(', ')}.\n\n| Operation | Path | models | text | money | note |\n| --- | --- | --- | --- | --- | --- |\n${lines.join('\n')}\n`
}

const LINKS = {upload: 'the address of the upload leads here', results_url: '`results_url` leads here'} as const
const PLACES = {path: 'path', model: 'body', any: 'any depth'} as const

function models({models, is_indirect}: VendorOperation): string {
  return [...models.map(place => PLACES[place]), ...(is_indirect ? ['stored'] : [])].join(', ')
}
