import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {ROWS, SNIPPETS} from './page.ts'
import {isProgram, reasonNotToRun, runSnippet} from './programs.ts'
import {kindOf, type ServedPage, servePage} from './served.ts'
import {CLIENTS} from './table.ts'
import {ANSWER, INPUT_TOKENS, OUTPUT_TOKENS} from './upstream.ts'

// docs/clients.md: the snippets that are programs, each with its real client, as they are but for the address and the
// key.

/** Snippets whose packages are here in every ring. */
const ALWAYS_RUN = [
  'OpenAI (Node.js)',
  'AzureOpenAI',
  'Anthropic (Node.js)',
  'Google GenAI (Node.js)',
  'AI SDK',
  'Portkey SDK',
]

const programs = CLIENTS.filter(({client}) => isProgram(SNIPPETS.get(client)!)).map(({client, packages = []}) => {
  const snippet = SNIPPETS.get(client)!
  return {client, snippet, reason: reasonNotToRun(snippet, packages)}
})

let served: ServedPage
beforeAll(async () => {
  served = await servePage()
})
afterAll(() => served.close())

test('clients that are installed with the tests are run in every ring', () => {
  const run = programs.filter(({reason}) => reason === null).map(({client}) => client)
  expect(run).toEqual(expect.arrayContaining(ALWAYS_RUN))
})

describe('the snippet of', () => {
  test.for(programs)('$client', {timeout: 90_000}, async ({client, snippet, reason}, {skip}) => {
    if (reason !== null) skip(reason)
    served.vendors.received.length = 0
    const end = await runSnippet(snippet, served.gateway.url, WORKSPACE_KEY, served.gateway.folder)
    expect(end, client).toMatchObject({code: 0, stdout: expect.stringContaining(ANSWER)})
    const {model} = ROWS.find(row => row.client === client)!
    const sent = served.vendors.received.filter(({body}) => body.toString() !== '{}')
    const [call] = CLIENTS.find(each => each.client === client)!.calls
    expect(sent.map(({path}) => path)).toEqual([call!.at])
    expect(JSON.stringify(sent[0]!.headers)).not.toContain(WORKSPACE_KEY)
    const [row] = await served.gateway.logs()
    expect(row).toMatchObject({
      ...{response_status_code: 200, outcome: 'ok', usage_source: 'provider'},
      ...{ai_org: kindOf(model), ai_model: model.slice(model.indexOf('/') + 1)},
      ...{req_units: INPUT_TOKENS, res_units: OUTPUT_TOKENS},
    })
  })
})
