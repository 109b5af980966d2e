import {ENDPOINTS, type EndpointName} from '../../schema/endpoints.ts'
import type {Provider} from '../provider.ts'
import {catalogueRow, exampleFor, type ProviderListing} from './view.ts'

/**
 * The page docs/providers.md: every provider, what is native, translated or passed through, its options and an example.
 */
export function providersPage(providers: readonly Provider[]): string {
  const overview = table(
    ['Slug', 'Provider', 'Host', 'Authentication'],
    providers.map(catalogueRow).map(row => [code(row.slug), row.name, hostOf(row), row.auth.map(code).join('<br>')]),
  )
  return `${[HEAD, `## All of them\n\n${overview}`, '## One by one', ...providers.map(section)].join('\n\n')}\n`
}

const HEAD = `# Providers

<!-- Written from src/providers/catalog; \`vitest run test/providers/catalog -u\` updates it. -->

\`gateway providers catalog\` prints this list, with \`--json\` for programs. A call selects a provider by its slug
(\`x-gateway-provider: groq\`), or by a workspace provider created from it (\`@my-groq\`).

- **Native**: the provider serves this endpoint in the client's format. Bodies pass unchanged.
- **Translated**: the gateway translates requests to the provider's format, and responses, streams and errors back.
  A response that already has the client's format is returned byte for byte, with members the gateway does not know. The
  gateway changes only what clients cannot read: content in parts, arguments that are not text, missing members, finish
  reasons and thinking under \`strict_open_ai_compliance\`.
- **Adaptations**: providers refuse some requests that others take: blank stop sequences, results that come late,
  schemas outside of a subset. The gateway changes such a part of a translated request and keeps its meaning. The
  response header \`x-gateway-adaptations\` and the log name each change; for a file of batch rows they name the line.
  A request that cannot be changed gets 400 with the field, and nothing is sent. A file with such a row is refused with
  the line.
- **Names of functions** that a provider refuses (\`files.read\` at Claude) are written in characters that it takes
  (\`files_x2e_read\`). Clients read their own names in every response.
- **By other requests**: files, batches and fine-tuning. For one call of a client the gateway sends one or more upstream
  requests of another API ([files and batches](files.md)).
- **By way of chat**: the gateway translates Anthropic's \`/messages\` and OpenAI's \`/responses\` to chat, if the provider
  supports only chat. Newer versions of some local engines have these routes themselves. The gateway finds that out with
  an empty request to the engine, which makes it no work. It remembers a route for ten minutes, and that there is none for
  one minute.
- **Counts of local engines.** llama.cpp's server and vLLM count prompts with the model's own tokenizer. The gateway uses
  their counts for \`/messages/count_tokens\`, and for the prompt of a call that its client left. Where an engine reports
  no usage, the log has an estimate, and clients of \`/messages\` and \`/responses\` get the same figures.
- **Failures inside a 200**: some providers answer 200 with an error in the body. The client gets the provider's
  sentence with the status that the body names, else 502, and retries and fallbacks treat it as that. An error in every
  choice is the error of the response; clients of \`/responses\` get a response with \`status: "failed"\`. A response that
  comes in parts, or has more than 64 KB, passes as it comes. Where a gateway wraps the cause (OpenRouter's \`metadata.raw\`), the message
  has both.
- **Pictures**: one that the provider's policy refuses is 400 \`content_policy_violation\`, and no other try is made.
  A picture in a chat answer is an \`image_generation_call\` to clients of \`/responses\`. Clients of \`/messages\` read
  that one was left out.
- **Ids of tool calls** that other APIs refuse (\`functions.Bash:0\`) reach clients of \`/messages\` and of
  \`/responses\` as letters and digits, and lead back to the provider's own.
- **\`functions\` and \`function_call\`**, the older words for tools, become tools for providers that are
  translated for, and calls come back in them.
- **Pass-through**: every other path is appended to the provider's base URL and forwarded unchanged with the right
  credential. \`/v1/proxy/PATH\` is always forwarded like this. If a provider with its own format lacks a unified
  endpoint, the call gets 400.

**Options** configure the address and the credentials of a provider. \`aws_region\` is the name in an integration's
\`configurations\` and in a config; in a request it is the header \`x-gateway-aws-region\`. Values that become part of a host
or a path may contain only letters, digits and a few signs, so they cannot change the destination. \`custom_host\` replaces
the base URL of any provider. It includes the version path, mostly \`/v1\`. For Ollama, LM Studio, llama.cpp, SGLang and
vLLM the host alone means the same.

Some authentication types use the gateway's own identity (\`managed\`, \`workload\`, \`gateway\`, \`serviceRole\`). They work in
integrations only. Settings define that identity ([settings.md](settings.md),
cloud identity).`

function section(provider: Provider): string {
  const row = catalogueRow(provider)
  const example = exampleFor(provider)
  const facts = [
    ['Base URL', hostOf(row)],
    ['Beside it', row.beside.map(code).join(', ')],
    ['Authentication', row.auth.map(code).join(' or ')],
    ['Native', row.native === 'all' ? 'every unified endpoint' : listed(row.native)],
    ['Translated', listed(row.translated)],
    ['By other requests', listed(row.in_calls)],
    ['Where the engine serves it, else by way of chat', listed(row.where_served)],
    ['By way of chat', listed(row.through_chat)],
    ['Realtime', row.realtime ? `${code('GET /realtime')} by WebSocket` : ''],
    ['Pass-through', 'everything else'],
  ].filter(([, value]) => value !== '')
  const options = row.options.map(({name, header, is_secret, does}) => [
    code(name),
    header === null ? '' : code(`x-gateway-${header}`),
    is_secret ? `${does} Secret.` : does,
  ])
  return [
    `### ${row.name} (\`${row.slug}\`)`,
    facts.map(([name, value]) => `- ${name}: ${value}`).join('\n'),
    ...(options.length ? [table(['Option', 'Header', 'Meaning'], options)] : []),
    ...(example
      ? [`An integration's \`configurations\`:\n\n\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``]
      : []),
  ].join('\n\n')
}

function hostOf({host}: ProviderListing): string {
  return host === null ? 'named by `custom_host`' : code(host)
}

function listed(names: readonly EndpointName[]): string {
  const paths = names.map(name => ENDPOINTS.find(each => each.name === name)).filter(each => each !== undefined)
  return paths.map(({method, path}) => code(`${method} ${path}`)).join(', ')
}

function table(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...lines]
    .map(cells => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}
