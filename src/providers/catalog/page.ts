import {ENDPOINTS, type EndpointName} from '../../schema/endpoints.ts'
import type {Provider} from '../provider.ts'
import {type CatalogueRow, catalogueRow, exampleFor} from './view.ts'

/** The page docs/providers.md: every provider, what is native, translated or passed through, its options and an example. */
export function providersPage(providers: readonly Provider[]): string {
  const overview = table(
    ['Slug', 'Provider', 'Host', 'Authentication'],
    providers.map(catalogueRow).map(row => [code(row.slug), row.name, hostOf(row), row.auth.map(code).join('<br>')]),
  )
  return `${[HEAD, `## All of them\n\n${overview}`, '## One by one', ...providers.map(section)].join('\n\n')}\n`
}

const HEAD = `# Providers

<!-- Written from src/providers/catalog; \`vitest run test/providers/catalog -u\` writes it anew. -->

\`gateway providers catalog\` prints this list, with \`--json\` for programs. A call names a provider by its slug
(\`x-gateway-provider: groq\`), or a provider of the workspace that was made of it (\`@my-groq\`).

- **Native**: bodies go and come as they are; the provider serves this endpoint in the words of the client.
- **Translated**: the endpoint is put into the provider's own words, and its answers, streams and errors back.
- **In calls of its own**: files, batches and fine-tuning, for which the provider has calls of another kind, one or several to each of the
  client's ([files and batches](files.md)).
- **By way of chat**: Anthropic's \`/messages\` and OpenAI's \`/responses\` where the provider has chat alone.
- **Pass-through**: every other path reaches the provider below its base URL with the right credential, unchanged; \`/v1/proxy/PATH\`
  always does. A unified endpoint that a provider with words of its own does not have is refused with 400.

**Options** say where a provider is and how it is logged in to. \`aws_region\` is the name in an integration's \`configurations\` and in a
config; in a request it is the header \`x-gateway-aws-region\`. What stands in a host or a path takes letters, digits and few marks: anything
that could lead elsewhere is refused. \`custom_host\` replaces the base URL of any provider. Logins with the gateway's own identity
(\`managed\`, \`workload\`, \`gateway\`, \`serviceRole\`) are for integrations and saved configs, not for a caller's headers; who the
gateway is there, its settings say ([settings.md](settings.md), cloud identity).`

function section(provider: Provider): string {
  const row = catalogueRow(provider)
  const example = exampleFor(provider)
  const facts = [
    ['Base URL', hostOf(row)],
    ['Beside it', row.beside.map(code).join(', ')],
    ['Authentication', row.auth.map(code).join(' or ')],
    ['Native', row.native === 'all' ? 'every unified endpoint' : listed(row.native)],
    ['Translated', listed(row.translated)],
    ['In calls of its own', listed(row.in_calls)],
    ['By way of chat', listed(row.through_chat)],
    ['Realtime', row.realtime ? `${code('GET /realtime')} by WebSocket` : ''],
    ['Pass-through', 'everything else'],
  ].filter(([, said]) => said !== '')
  const options = row.options.map(({name, header, is_secret, does}) => [
    code(name),
    header === null ? '' : code(`x-gateway-${header}`),
    is_secret ? `${does} Secret.` : does,
  ])
  return [
    `### ${row.name} (\`${row.slug}\`)`,
    facts.map(([name, said]) => `- ${name}: ${said}`).join('\n'),
    ...(options.length ? [table(['Option', 'Header', 'Meaning'], options)] : []),
    ...(example ? [`An integration's \`configurations\`:\n\n\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``] : []),
  ].join('\n\n')
}

function hostOf({host}: CatalogueRow): string {
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
