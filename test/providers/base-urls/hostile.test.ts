import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {baseUrl, pathFor, usualHeaders, variantOf} from '../../../src/providers/base-urls/base-url.ts'
import {OPTIONS, type OptionName} from '../../../src/providers/option-table.ts'
import {MissingOptionFault, type Options, optionsFor, WrongOptionFault} from '../../../src/providers/options.ts'
import type {Provider} from '../../../src/providers/provider.ts'
import {list} from '../../../src/providers/registry.ts'
import {UnsupportedInputFault} from '../../../src/providers/translation.ts'
import {sent} from '../catalog/ask.ts'

/** For each provider whose place options say: options that make one, and the host and path they make. */
const PLACED: Readonly<Record<string, Options>> = {
  'azure-openai': {azure_resource_name: 'res', azure_deployment_id: 'dep', azure_api_version: '2024-10-21'},
  'azure-ai': {
    azure_endpoint_name: 'ep',
    azure_region: 'eastus',
    azure_deployment_type: 'serverless',
    azure_api_version: '2024-05-01',
  },
  bedrock: {aws_region: 'us-east-1'},
  'bedrock-mantle': {aws_region: 'us-east-1'},
  'claude-platform-aws': {aws_region: 'us-east-1', anthropic_aws_workspace_id: 'w'},
  sagemaker: {aws_region: 'us-east-1'},
  'vertex-ai': {vertex_region: 'us-central1', vertex_project_id: 'p', vertex_api_version: 'v1'},
  cortex: {snowflake_account: 'org-account'},
  oracle: {
    oracle_region: 'us-chicago-1',
    oracle_compartment_id: 'ocid1.compartment.oc1..c',
    oracle_api_version: '20231130',
  },
  'workers-ai': {workers_ai_account_id: 'acct'},
  byteplus: {byteplus_region: 'eu-west'},
  databricks: {databricks_workspace: 'dbc-1', databricks_serving_endpoint_name: 'ep'},
}
/** Attempts to leave a host or a path. */
const ATTEMPTS = [
  'evil.com/',
  'evil.com#',
  'evil.com?',
  'evil.com:443',
  'x@y',
  'x@evil.com',
  '..',
  '../..',
  '.',
  '/',
  '//evil.com',
  'a/b',
  'a\\b',
  '%2f',
  'a%2fb',
  'a%00b',
  'a b',
  'a\r\nhost: evil.com',
  'a\nb',
  'a\tb',
  'ａ',
  'xn--a',
  '-a',
  'a;b',
  'a?b=c',
  'a#b',
  '[::1]',
]
/** In a host, a dot makes another name. */
const IN_HOST = [...ATTEMPTS, 'a.b', 'evil.com', '127.0.0.1', '169.254.169.254', 'a:b', 'a_b_', 'a'.repeat(64)]

/** An OCID stands in bodies alone. */
const CASES = Object.entries(PLACED).flatMap(([slug, options]) =>
  (Object.keys(options) as OptionName[])
    .filter(option => OPTIONS[option].takes !== 'ocid')
    .map(option => [slug, option] as const),
)

describe.each(CASES)('%s %s', (slug, option) => {
  const in_host = OPTIONS[option].takes === 'label' || OPTIONS[option].takes === 'account'
  const is_line = OPTIONS[option].takes === 'line'

  test.each(in_host ? IN_HOST : ATTEMPTS)('%j leads nowhere else', async attempt => {
    const usual = address(await whole(slug, PLACED[slug]!))
    const said = await whole(slug, {...PLACED[slug], [option]: attempt}).catch((fault: unknown) => fault)
    if (said instanceof Error) {
      expect(said).toBeInstanceOf(UnsupportedInputFault)
      return
    }
    // What is not refused is one word of the path or one line of a header, and the host is as it was.
    expect(in_host).toBe(false)
    expect(address(said as string)).toEqual(usual)
    if (!is_line)
      expect((said as string).includes(attempt) || (said as string).includes(encodeURIComponent(attempt))).toBe(true)
  })
})

test('whatever an option says, the host stays below the provider’s domain and the path keeps its depth', async () => {
  const texts = fc.oneof(
    fc.string(),
    fc.string({unit: 'binary'}),
    fc.webUrl(),
    fc.domain(),
    fc.constantFrom(...IN_HOST),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...CASES), texts, async ([slug, option], attempt) => {
      const usual = new URL(await whole(slug, PLACED[slug]!))
      const said = await whole(slug, {...PLACED[slug], [option]: attempt}).catch((fault: unknown) => fault)
      if (said instanceof Error) {
        expect(said).toBeInstanceOf(UnsupportedInputFault)
        return
      }
      const url = new URL(said as string)
      const domain = (host: string) => host.split('.').slice(-2).join('.')
      expect(domain(url.hostname)).toBe(domain(usual.hostname))
      expect(url.hostname.split('.').length).toBe(usual.hostname.split('.').length)
      if (OPTIONS[option].decides !== 'host' || slug === 'workers-ai') expect(url.host).toBe(usual.host)
      expect([url.protocol, url.username, url.password, url.port, url.hash]).toEqual(['https:', '', '', '', ''])
    }),
    {numRuns: 2000},
  )
})

test('every option that enters a host is tried here', () => {
  const tried = new Set(CASES.map(([slug, option]) => `${slug} ${option}`))
  const elsewhere = new Set(['azure_foundry_url', 'huggingface_base_url', 'aws_endpoint_domain'])
  const deciding = list().flatMap(({slug}) =>
    optionsFor(slug)
      .filter(option => OPTIONS[option].decides === 'host' && !elsewhere.has(option))
      .map(option => `${slug} ${option}`),
  )
  expect(deciding.filter(each => !tried.has(each))).toEqual([])
})

test.each([
  'http://res.services.ai.azure.com',
  'https://user@evil.com',
  'https://evil.com?x',
  'https://evil.com#x',
  'https://evil.com/../x',
  'https://evil.com/a%2fb',
  'https://evil.com\\x',
  'https://evil.com\r\nx: y',
  'https://[::1]',
  'file:///etc/passwd',
  'evil.com',
])('%j is no base URL', url => {
  for (const [slug, option] of [
    ['azure-ai', 'azure_foundry_url'],
    ['huggingface', 'huggingface_base_url'],
  ] as const)
    expect(() => baseUrl(row(slug), {[option]: url})).toThrow(WrongOptionFault)
})

test('a base URL that an option names is told apart, to be judged as a custom host is', () => {
  expect(baseUrl(row('azure-ai'), {azure_foundry_url: 'https://res.services.ai.azure.com/models/'})).toEqual({
    url: 'https://res.services.ai.azure.com/models',
    is_named: true,
  })
  expect(baseUrl(row('azure-ai'), {azure_endpoint_name: 'ep', azure_region: 'eastus'})?.is_named).toBe(false)
  expect(baseUrl(row('huggingface'), {})).toEqual({url: 'https://router.huggingface.co/v1', is_named: false})
})

test.each(['evil.com/x', '..amazonaws.com', 'amazonaws.com:443', 'a@b.c', 'localhost'])(
  '%j is no domain of AWS',
  aws_endpoint_domain => {
    expect(() => baseUrl(row('bedrock'), {aws_endpoint_domain})).toThrow(WrongOptionFault)
  },
)

test('what a place needs is asked for by its name', () => {
  const missing = (slug: string, options: Options = {}) => {
    try {
      const provider = row(slug)
      baseUrl(provider, options)
      usualHeaders(provider, options)
      return null
    } catch (fault) {
      return fault instanceof MissingOptionFault ? fault.field : String(fault)
    }
  }
  expect(Object.keys(PLACED).map(slug => [slug, missing(slug)])).toEqual([
    ['azure-openai', 'azure_resource_name'],
    ['azure-ai', 'azure_foundry_url'],
    ['bedrock', null],
    ['bedrock-mantle', null],
    ['claude-platform-aws', 'anthropic_aws_workspace_id'],
    ['sagemaker', null],
    ['vertex-ai', null],
    ['cortex', 'snowflake_account'],
    ['oracle', 'oracle_region'],
    ['workers-ai', 'workers_ai_account_id'],
    ['byteplus', null],
    ['databricks', 'databricks_workspace'],
  ])
  expect(missing('azure-ai', {azure_endpoint_name: 'ep'})).toBe('azure_region')
})

test.each(['../x', 'a/b', 'a?b', '..', 'a b', 'a%2fb', 'a#b'])(
  'the model %j does not leave its segment on Vertex AI',
  async name => {
    for (const model of [`anthropic.${name}`, `endpoints.${name}`, `mistralai.${name}`]) {
      const asked = {
        body: {model, messages: [{role: 'user', content: 'Hi'}], max_tokens: 1},
        options: PLACED['vertex-ai']!,
      }
      await expect(sent('vertex-ai', asked)).rejects.toBeInstanceOf(UnsupportedInputFault)
    }
  },
)

function row(slug: string): Provider {
  return variantOf(list().find(each => each.slug === slug)!, '', {})
}

/** The URL of a chat call with all its headers made, so that every option is read. */
async function whole(slug: string, options: Options): Promise<string> {
  const asked = {body: {model: 'm', messages: [{role: 'user', content: 'Hi'}], max_tokens: 1}, options}
  const {url, headers} =
    slug === 'sagemaker'
      ? await sent(slug, {endpoint: 'proxy', path: '/endpoints/e/invocations', options})
      : await sent(slug, asked)
  for (const [name, value] of Object.entries(headers)) new Headers([[name, value]])
  if (slug === 'vertex-ai') await sent(slug, {...asked, body: {...asked.body, model: 'anthropic.m'}})
  pathFor(row(slug), {endpoint: 'listFiles', path: '/files', query: '', model: '', is_stream: false}, options)
  return url
}

function address(url: string): readonly [host: string, depth: number] {
  const {host, pathname} = new URL(url)
  return [host, pathname.split('/').length]
}
