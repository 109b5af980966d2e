import {readFileSync} from 'node:fs'
import {expect, test} from 'vitest'
import {baseUrl, usualHeaders, variantOf} from '../../../src/providers/base-urls/base-url.ts'
import {providersPage} from '../../../src/providers/catalog/docs-page.ts'
import {catalogueRow, EXAMPLES, exampleFor, unknownIn} from '../../../src/providers/catalog/view.ts'
import {settingsOf} from '../../../src/providers/configurations.ts'
import {optionsOfSettings} from '../../../src/providers/options.ts'
import {DEMO, find, list} from '../../../src/providers/registry.ts'
import {run} from '../../cli/support.ts'

const shown = list().filter(({slug}) => slug !== DEMO)

test('docs/providers.md is what the catalogue says', async () => {
  await expect(providersPage(shown)).toMatchFileSnapshot('../../../docs/providers.md')
})

test('the README says how many providers there are', () => {
  expect(readFileSync('README.md', 'utf8')).toContain(`The catalogue has ${shown.length} providers`)
})

test('a row says what is native, what is translated and what comes by way of chat', () => {
  expect(catalogueRow(find('anthropic')!)).toMatchObject({
    slug: 'anthropic',
    host: 'https://api.anthropic.com/v1',
    auth: ['X-API-Key: KEY'],
    native: ['messages', 'messagesCountTokens'],
    translated: ['chatComplete', 'complete'],
    through_chat: ['createModelResponse'],
  })
  expect(catalogueRow(find('groq')!)).toMatchObject({
    translated: [],
    in_calls: ['getBatchOutput'],
    through_chat: ['messages'],
  })
  expect(catalogueRow(find('mistral-ai')!).native).not.toContain('uploadFile')
  expect(catalogueRow(find('mistral-ai')!).in_calls).toContain('uploadFile')
  expect(catalogueRow(find('openai')!)).toMatchObject({native: 'all', translated: [], through_chat: ['messages']})
  expect(catalogueRow(find('voyage')!)).toMatchObject({native: [], translated: ['rerank', 'embed'], through_chat: []})
  expect(catalogueRow(find('azure-openai')!).host).toBe('https://{azure_resource_name}.openai.azure.com/openai')
})

test('every example makes a place, of options that are there', () => {
  for (const slug of Object.keys(EXAMPLES)) {
    const provider = find(slug)!
    const example = exampleFor(provider)!
    expect({slug, unknown: unknownIn(example)}).toEqual({slug, unknown: []})
    const options = optionsOfSettings(example)
    const variant = variantOf(provider, '', options)
    expect(baseUrl(variant, options)?.url).toMatch(/^https:\/\//)
    usualHeaders(variant, options)
  }
})

test.each(['azure-openai', 'azure-ai', 'bedrock', 'sagemaker', 'vertex-ai', 'cortex', 'workers-ai', 'huggingface'])(
  'the example of %s is taken as an integration’s configurations',
  slug => {
    expect(settingsOf(slug).safeParse(exampleFor(find(slug)!)).error).toBeUndefined()
  },
)

test('every provider without a place has an example that names a host', () => {
  for (const provider of list()) {
    if (provider.base_url === null && !provider.baseUrlOf)
      expect(exampleFor(provider)).toEqual({
        custom_host: expect.stringMatching(/^http:\/\/10\.0\.0\.5:\d{4,5}(?:\/v1)?$/),
      })
  }
})

test('gateway providers catalog lists them, with no data directory', async () => {
  const {code, stdout} = await run(['providers', 'catalog', '--json'])
  const said = JSON.parse(stdout) as {total: number; data: {slug: string}[]}
  expect(code).toBe(0)
  expect(said.data.map(({slug}) => slug)).toEqual(list().map(({slug}) => slug))
  expect(new Set(said.data.map(({slug}) => slug)).size).toBeGreaterThanOrEqual(88)
  expect(said.total).toBe(said.data.length)
  const table = await run(['providers', 'catalog'])
  const line = table.stdout.split('\n').find(each => each.startsWith('cohere '))
  expect(line).toMatch(
    /Cohere.*https:\/\/api\.cohere\.ai.*Authorization: Bearer KEY.*chatComplete complete embed rerank.*messages createModelResponse/,
  )
})
